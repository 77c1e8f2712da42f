/**
 * A runtime as one life of a daemon sees it. The processes belong to the machine and outlive the daemon. Requests
 * take time, and events arrive in order. The world sees each start and signal at the instant it happens.
 */
import type { ProcessStamp } from '../../../src/files/processes.js';
import type { RuntimeOffer } from '../../../src/model/node.js';
import type { RunIdentity } from '../../../src/model/run/run-identity.js';
import type { StopTo } from '../../../src/model/stopping.js';
import type { ExitListener, Held, RunId, Runtime, StartSpec } from '../../../src/runtime/runtime.js';
import type { FakeRuntime } from '../../support/control-plane/fake-runtime.js';
import type { Life } from './life.js';
import { STOP_COMMAND } from './program.js';

/** What the world wants to see, before it happens. */
export interface RuntimeWatcher {
  onStart(spec: StartSpec): void;
  /** A rung of the stop ladder is asked for: a signal, or null for the stop command. */
  onRung(run: RunId, signal: NodeJS.Signals | null): void;
  /** A live run was given its stop command; it may end of it. */
  onStopCommand(run: RunId): void;
  /** A live run is about to get a signal. */
  onSignal(run: RunId, signal: NodeJS.Signals): void;
}

const SHORT_MS = 3;

export class FencedRuntime implements Runtime {
  readonly #inner: FakeRuntime;
  readonly #life: Life;
  readonly #watcher: RuntimeWatcher;
  readonly #exitListeners = new Set<ExitListener>();
  readonly #lostListeners = new Set<() => void>();
  #toldUntil = 0;
  #isAdopted = false;

  constructor(inner: FakeRuntime, life: Life, watcher: RuntimeWatcher) {
    this.#inner = inner;
    this.#life = life;
    this.#watcher = watcher;
    const unsubscribe = inner.onExit((run, exit) => {
      // Exits from before the list that `adopt` gives are in that list.
      if (this.#isAdopted)
        this.#tell(() => {
          for (const listener of this.#exitListeners) listener(run, exit);
        });
    });
    life.onDeath(unsubscribe);
  }

  get key(): string {
    return this.#inner.key;
  }

  probe(): Promise<RuntimeOffer> {
    return this.#ask('a probe', () => this.#inner.probe());
  }

  start(spec: StartSpec): Promise<RunIdentity> {
    return this.#ask('a start', () => {
      if (this.#inner.failWith === undefined) this.#watcher.onStart(spec);
      return this.#inner.start(spec);
    });
  }

  adopt(): Promise<readonly Held[]> {
    return this.#ask('adopting', () => {
      this.#isAdopted = true;
      return this.#inner.list();
    });
  }

  list(): Promise<readonly Held[]> {
    return this.#ask('listing', () => this.#inner.list());
  }

  signal(run: RunId, signal: NodeJS.Signals, to?: StopTo): Promise<readonly ProcessStamp[]> {
    if (this.#inner.isRunning(run)) this.#watcher.onRung(run, signal);
    return this.#ask(`signal ${signal}`, () => {
      if (this.#inner.isRunning(run)) this.#watcher.onSignal(run, signal);
      return this.#inner.signal(run, signal, to);
    });
  }

  isProcessAlive(main: ProcessStamp): boolean {
    return this.#inner.isProcessAlive(main);
  }

  isAlive(run: RunId): Promise<boolean> {
    return this.#ask('a look at a run', () => this.#inner.isAlive(run));
  }

  isGroupGone(run: RunId): boolean {
    return this.#inner.isGroupGone(run);
  }

  write(run: RunId, bytes: Buffer): Promise<void> {
    const isStopCommand = bytes.toString() === `${STOP_COMMAND}\n`;
    if (isStopCommand && this.#inner.isRunning(run)) this.#watcher.onRung(run, null);
    return this.#ask('stdin', async () => {
      await this.#inner.write(run, bytes);
      if (isStopCommand && this.#inner.isRunning(run)) this.#watcher.onStopCommand(run);
    });
  }

  acknowledge(run: RunId): Promise<void> {
    return this.#ask('acknowledging an exit', () => this.#inner.acknowledge(run));
  }

  onExit(listener: ExitListener): () => void {
    this.#exitListeners.add(listener);
    return () => this.#exitListeners.delete(listener);
  }

  onLost(listener: () => void): () => void {
    this.#lostListeners.add(listener);
    return () => this.#lostListeners.delete(listener);
  }

  /** What holds the processes died, and they with it. */
  lose(): void {
    this.#tell(() => {
      for (const listener of this.#lostListeners) listener();
    });
  }

  async release(): Promise<void> {
    this.#exitListeners.clear();
    this.#lostListeners.clear();
  }

  /** Answers and exits come over one connection: none overtakes another. */
  #ask<T>(what: string, effect: () => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#life
        .request(what, this.#life.random.between(0.05, SHORT_MS), () => {
          effect().then(
            (value) => this.#tell(() => resolve(value)),
            (error: unknown) => this.#tell(() => reject(error)),
          );
        })
        .catch(reject);
    });
  }

  #tell(action: () => void): void {
    const now = this.#life.clock.monotonic();
    const at = Math.max(this.#toldUntil, now + this.#life.random.between(0, SHORT_MS));
    this.#toldUntil = at;
    this.#life.after(at - now, action);
  }
}
