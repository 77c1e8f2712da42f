/** A runtime without processes: a start makes an entry in a map, and the test calls `end`. It outlives the wrapper. */
import type { ProcessStamp } from '../../../src/files/processes.js';
import { DroverError } from '../../../src/model/errors.js';
import type { RuntimeOffer } from '../../../src/model/node.js';
import type { Exit, LogPlace } from '../../../src/model/run/past-exit.js';
import type { RunIdentity } from '../../../src/model/run/run-identity.js';
import type { StopTo } from '../../../src/model/stopping.js';
import type { ExitListener, Held, RunId, Runtime, StartSpec } from '../../../src/runtime/runtime.js';

interface FakeProcess {
  readonly spec: StartSpec;
  readonly process: RunIdentity;
  readonly outputFrom: LogPlace;
  exit: Exit | null;
}

export class FakeRuntime implements Runtime {
  readonly key: string;
  /** Every start, in order. */
  readonly starts: StartSpec[] = [];
  /** The signals to live runs, as `<id> <signal>`. */
  readonly signals: string[] = [];
  /** The signals to ended runs, which reach only their remains. */
  readonly sweeps: string[] = [];
  /** The ids of instances whose processes go on after SIGTERM. */
  readonly stubborn = new Set<string>();
  /** The ids of instances with a shell before their program: it ends by the signal that goes to all. */
  readonly shelled = new Set<string>();
  isShelled = (id: string): boolean => this.shelled.has(id);
  /** The processes behind the main ones that read from a pipe, until they end. */
  readers: ProcessStamp[] = [];
  /** The names of the processes that ends leave. */
  names: readonly string[] = [];
  /** True: nothing answers, as when a container's engine is away. */
  isAway = false;
  /** The texts written to standard input, as `<id> <text>`. */
  readonly written: string[] = [];
  /** True: standard input is full, because the program does not read it. */
  isInputFull = false;
  /** When set, starts fail with this message. */
  failWith: string | undefined;
  isAvailable = true;
  /** Ends of earlier runs that no daemon has acknowledged. */
  left: Held[] = [];
  /** True: runs are containers, which have no process of their own on the node. */
  inContainers = false;
  readonly #processes = new Map<string, FakeProcess>();
  /** The main processes that go on after their signal. */
  readonly #mains = new Set<number>();
  readonly #exitListeners = new Set<ExitListener>();
  readonly #bootId: string;
  #nextPid = 1000;

  readonly #nextLogLine: (id: string) => number;

  /** `nextLogLine`: the number of the next log line of an instance. Each line of a log is a segment of its own. */
  constructor(key = 'process', bootId = 'boot', nextLogLine: (id: string) => number = () => 1) {
    this.key = key;
    this.#bootId = bootId;
    this.#nextLogLine = nextLogLine;
  }

  async probe(): Promise<RuntimeOffer> {
    return {
      key: this.key,
      available: this.isAvailable,
      version: '1',
      reason: this.isAvailable ? null : 'switched off',
    };
  }

  async start(spec: StartSpec): Promise<RunIdentity> {
    if (this.failWith !== undefined) throw new DroverError('DRV_RUNTIME_START_FAILED', this.failWith);
    const current = this.#processes.get(spec.instanceId);
    if (current?.exit === null) throw new Error(`two processes for ${spec.instanceId}`);
    this.starts.push(spec);
    const pid = this.#nextPid++;
    const process = this.inContainers
      ? { containerId: `container-${pid}` }
      : { pid, startTime: this.starts.length, bootId: this.#bootId };
    const outputFrom = { segment: this.#nextLogLine(spec.instanceId), offset: 0 };
    this.#processes.set(spec.instanceId, { spec, process, outputFrom, exit: null });
    return process;
  }

  async adopt(): Promise<readonly Held[]> {
    return this.list();
  }

  async list(): Promise<readonly Held[]> {
    const held = [...this.#processes.values()].map(({ spec, process, outputFrom, exit }) => {
      const run = { instanceId: spec.instanceId, run: spec.run };
      return exit === null ? { ...run, process, exit, outputFrom } : { ...run, process, exit };
    });
    return [...held, ...this.left];
  }

  async signal(run: RunId, signal: NodeJS.Signals, to: StopTo = 'all'): Promise<readonly ProcessStamp[]> {
    this.#answer();
    const { instanceId: id } = run;
    if (!(await this.isAlive(run))) {
      this.sweeps.push(`${id} ${signal}`);
      return [];
    }
    this.signals.push(`${id} ${signal}`);
    const main = { pid: this.signals.length, startTime: run.run };
    const isStubborn = signal === 'SIGTERM' && this.stubborn.has(id);
    const hasShell = this.isShelled(id) && to === 'main' && signal !== 'SIGKILL';
    if (isStubborn && hasShell) this.#mains.add(main.pid);
    if (hasShell) return [main];
    if (!isStubborn) this.end(id, { code: null, signal });
    return [];
  }

  isProcessAlive({ pid }: ProcessStamp): boolean {
    return this.#mains.has(pid) || this.readers.some((reader) => reader.pid === pid);
  }

  async pipeReaders(): Promise<readonly ProcessStamp[]> {
    return this.readers;
  }

  async processNames(): Promise<readonly string[]> {
    return this.names;
  }

  #answer(): void {
    if (this.isAway) throw new DroverError('DRV_RUNTIME_UNAVAILABLE', 'the container engine does not answer');
  }

  async isAlive(run: RunId): Promise<boolean> {
    return this.isRunning(run);
  }

  isRunning(run: RunId): boolean {
    const current = this.#processes.get(run.instanceId);
    return current?.exit === null && current.spec.run === run.run;
  }

  isGroupGone(run: RunId): boolean {
    const current = this.#processes.get(run.instanceId);
    return current?.exit !== null || current.spec.run !== run.run;
  }

  async write({ instanceId }: RunId, bytes: Buffer): Promise<void> {
    this.#answer();
    if (this.isInputFull) throw new DroverError('DRV_STDIN_FULL', `${instanceId} does not read its input`);
    this.written.push(`${instanceId} ${bytes}`);
  }

  async acknowledge(run: RunId): Promise<void> {
    this.left = this.left.filter((one) => one.instanceId !== run.instanceId || one.run !== run.run);
    const current = this.#processes.get(run.instanceId);
    if (current !== undefined && current.spec.run === run.run && current.exit !== null)
      this.#processes.delete(run.instanceId);
  }

  onExit(listener: ExitListener): () => void {
    this.#exitListeners.add(listener);
    return () => this.#exitListeners.delete(listener);
  }

  onLost(): () => void {
    return () => undefined;
  }

  async release(): Promise<void> {
    this.#exitListeners.clear();
  }

  /** Ends the process of an instance, as if it ended by itself. */
  end(instanceId: string, how: Pick<Exit, 'code' | 'signal'> & Partial<Exit>): void {
    const current = this.#processes.get(instanceId);
    if (current === undefined || current.exit !== null) return;
    current.exit = { at: 0, ...how };
    this.tellExit({ instanceId, run: current.spec.run }, current.exit);
  }

  tellExit(run: RunId, exit: Exit): void {
    for (const listener of this.#exitListeners) listener(run, exit);
  }

  /** The specification of the instance's last start; undefined: the runtime knows nothing of the instance. */
  specOf(instanceId: string): StartSpec | undefined {
    return this.#processes.get(instanceId)?.spec;
  }

  /** Ends and forgets all processes at once, as when the machine loses its power. */
  forgetAll(): void {
    this.#processes.clear();
  }

  /** The instances with a live process. */
  get alive(): string[] {
    return [...this.#processes.values()]
      .filter(({ exit }) => exit === null)
      .map(({ spec }) => spec.instanceId);
  }
}
