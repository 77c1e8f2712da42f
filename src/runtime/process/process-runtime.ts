/**
 * The `process` runtime: plain processes on terminals that a detached owner process holds, so that they outlive the
 * daemon. Starts, input and exits go through the owner; signals are sent by the daemon itself.
 */
import { existsSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Clock } from '../../loop/clock.js';
import { DroverError, messageOf } from '../../model/errors.js';
import { isInstanceId } from '../../model/names.js';
import type { RuntimeOffer } from '../../model/node.js';
import type { Logger } from '../../telemetry/logger.js';
import { InstanceProcesses } from '../instance-processes.js';
import { ProcessTable } from '../process-table.js';
import { formatMark, MARK_VARIABLE } from '../run-mark.js';
import type { Exit, ExitListener, Held, ProcessIdentity, RunId, Runtime, StartSpec } from '../runtime.js';
import { resolveSocketPath } from '../socket-path.js';
import { endLeftovers } from './leftovers.js';
import { OwnerAccess } from './owner-access.js';
import { keyOf, RunBook } from './run-book.js';
import { checkInput } from './stdin-limits.js';

export interface ProcessRuntimeOptions {
  /** Identity of the node's root, part of every process's mark. */
  readonly rootId: string;
  /** Made with mode 0700 when missing. */
  readonly socketDirectory: string;
  /** Logs go to a directory per instance id in it. */
  readonly logsDirectory: string;
  readonly segmentBytes: number;
  readonly segments: number;
  /** The built owner-main.js. */
  readonly ownerProgram: string;
  readonly logger: Logger;
  readonly clock: Clock;
}

export class ProcessRuntime implements Runtime {
  readonly key = 'process';
  readonly #options: ProcessRuntimeOptions;
  readonly #table = new ProcessTable();
  readonly #processes: InstanceProcesses;
  readonly #book = new RunBook(this.#table.bootId);
  readonly #exitListeners = new Set<ExitListener>();
  readonly #lostListeners = new Set<() => void>();
  /** Runs whose start has not returned yet: their exit is told afterwards. */
  readonly #starting = new Map<string, Exit | undefined>();
  #access: OwnerAccess | undefined;
  #isReleased = false;

  constructor(options: ProcessRuntimeOptions) {
    this.#options = options;
    this.#processes = new InstanceProcesses(this.#table, options.rootId);
  }

  async probe(): Promise<RuntimeOffer> {
    const reason = existsSync(this.#options.ownerProgram)
      ? null
      : `its owner program ${basename(this.#options.ownerProgram)} is missing; build or install Drover again`;
    return { key: this.key, available: reason === null, version: null, reason };
  }

  async start(spec: StartSpec): Promise<ProcessIdentity> {
    checkSpec(spec);
    const key = keyOf(spec);
    this.#starting.set(key, undefined);
    try {
      return await this.#start(spec);
    } finally {
      // After the caller has the answer, so that it knows the run when it hears of its exit.
      setImmediate(() => this.#onStarted(spec));
    }
  }

  async adopt(): Promise<readonly Held[]> {
    if ((await this.#reachable().find()) === undefined) await this.#endLeftovers();
    return this.#book.all();
  }

  async list(): Promise<readonly Held[]> {
    return this.#book.all();
  }

  async signal(run: RunId, signal: NodeJS.Signals): Promise<void> {
    await this.#processes.signal(run, this.#book.leaderOf(run), signal);
  }

  async isAlive(run: RunId): Promise<boolean> {
    return await this.#processes.isAlive(run, this.#book.leaderOf(run));
  }

  isGroupGone(run: RunId): boolean {
    return this.#processes.isGroupGone(this.#book.leaderOf(run));
  }

  async write(run: RunId, bytes: Buffer): Promise<void> {
    checkInput(bytes);
    if (!this.#book.isLive(run))
      throw new DroverError('DRV_INSTANCE_NOT_RUNNING', `instance ${run.instanceId} is not running`);
    const link = await this.#reachable().reach();
    await link.request({ type: 'write', instanceId: run.instanceId, run: run.run }, bytes);
  }

  async acknowledge(run: RunId): Promise<void> {
    this.#book.acknowledge(run);
    const link = await this.#reachable().find();
    await link?.request({ type: 'acknowledge', instanceId: run.instanceId, run: run.run });
  }

  onExit(listener: ExitListener): () => void {
    this.#exitListeners.add(listener);
    return () => this.#exitListeners.delete(listener);
  }

  onLost(listener: () => void): () => void {
    this.#lostListeners.add(listener);
    return () => this.#lostListeners.delete(listener);
  }

  async release(): Promise<void> {
    this.#isReleased = true;
    await this.#access?.release();
  }

  async #start(spec: StartSpec): Promise<ProcessIdentity> {
    const { instanceId, run, command, workingDirectory } = spec;
    const { logsDirectory, segmentBytes, segments } = this.#options;
    const link = await this.#reachable().reach();
    const { process: started } = await link.request({
      type: 'start',
      instanceId,
      run,
      command,
      workingDirectory,
      environment: { ...spec.environment, [MARK_VARIABLE]: formatMark(this.#options.rootId, spec) },
      log: { directory: join(logsDirectory, instanceId), segmentBytes, segments },
    });
    if (started === undefined)
      throw new DroverError('DRV_RUNTIME_UNAVAILABLE', 'the owner process did not say what it started');
    return this.#book.started(spec, started);
  }

  /** Built when first needed: the constructor must not touch the disk. */
  #reachable(): OwnerAccess {
    if (this.#isReleased) throw new DroverError('DRV_RUNTIME_UNAVAILABLE', 'this runtime was released');
    this.#access ??= new OwnerAccess({
      ...this.#options,
      socketPath: resolveSocketPath(this.#options.socketDirectory, 'owner.sock'),
      onExit: (run, exit) => this.#tellExit(run, this.#book.exited(run, exit)),
      onConnected: (held) => {
        for (const { run, exit } of this.#book.replace(held, this.#options.clock.now()))
          this.#tellExit(run, exit);
      },
      onDead: () => this.#onDead(),
    });
    return this.#access;
  }

  #onStarted(run: RunId): void {
    const exit = this.#starting.get(keyOf(run));
    this.#starting.delete(keyOf(run));
    if (exit !== undefined) this.#tellExit(run, exit);
  }

  #tellExit(run: RunId, exit: Exit): void {
    if (this.#starting.has(keyOf(run))) this.#starting.set(keyOf(run), exit);
    else for (const listener of this.#exitListeners) this.#call(() => listener(run, exit));
  }

  async #onDead(): Promise<void> {
    this.#options.logger.error('the owner process died; its instances are ended and reported as lost');
    await this.#endLeftovers();
    for (const listener of this.#lostListeners) this.#call(listener);
  }

  async #endLeftovers(): Promise<void> {
    const { clock, logger } = this.#options;
    const found = await endLeftovers({
      processes: this.#processes,
      clock,
      logger,
      known: this.#book.liveRuns(),
      leaderOf: (run) => this.#book.leaderOf(run),
    });
    this.#book.loseAll(found, clock.now());
  }

  #call(listener: () => void): void {
    try {
      listener();
    } catch (error) {
      this.#options.logger.error({ reason: messageOf(error) }, 'a listener of the process runtime failed');
    }
  }
}

function checkSpec(spec: StartSpec): void {
  const problem = problemOf(spec);
  if (problem !== undefined) throw new DroverError('DRV_RUNTIME_START_FAILED', problem);
}

/** What the system would take but cut short, silently. */
function problemOf({ instanceId, command, environment }: StartSpec): string | undefined {
  if (!isInstanceId(instanceId)) return `"${instanceId}" is not an instance id`;
  if (command.includes('\0')) return 'command holds a NUL byte, which no process can be given';
  for (const [name, value] of Object.entries(environment)) {
    if (name === '' || /[=\0]/.test(name)) return `environment variable "${name}": the name is not valid`;
    if (value.includes('\0')) return `environment variable ${name} holds a NUL byte`;
  }
  return undefined;
}
