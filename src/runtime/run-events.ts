/**
 * The part of a runtime that tells its listeners what becomes of runs. The exit of a run is told after the answer to its
 * start.
 */
import { messageOf } from '../model/errors.js';
import type { Exit } from '../model/run/past-exit.js';
import type { Logger } from '../telemetry/logger.js';
import { type ExitListener, keyOf, type RunId } from './runtime.js';

export class RunEvents {
  readonly key: string;
  readonly #logger: Logger;
  readonly #exitListeners = new Set<ExitListener>();
  readonly #lostListeners = new Set<() => void>();
  /** Runs whose start has not returned yet, with the exit that is told afterwards. */
  readonly #starting = new Map<string, Exit | undefined>();

  /** `key`: the key of the runtime. */
  constructor(key: string, logger: Logger) {
    this.key = key;
    this.#logger = logger;
  }

  onExit(listener: ExitListener): () => void {
    this.#exitListeners.add(listener);
    return () => this.#exitListeners.delete(listener);
  }

  onLost(listener: () => void): () => void {
    this.#lostListeners.add(listener);
    return () => this.#lostListeners.delete(listener);
  }

  /** Holds back the exit of `run` until `start` has answered, and its caller has heard that. */
  protected async starting<T>(run: RunId, start: () => Promise<T>): Promise<T> {
    const key = keyOf(run);
    this.#starting.set(key, undefined);
    try {
      return await start();
    } finally {
      setImmediate(() => {
        const exit = this.#starting.get(key);
        this.#starting.delete(key);
        if (exit !== undefined) this.tellExit(run, exit);
      });
    }
  }

  protected isStarting(run: RunId): boolean {
    return this.#starting.has(keyOf(run));
  }

  protected tellExit(run: RunId, exit: Exit): void {
    if (this.isStarting(run)) this.#starting.set(keyOf(run), exit);
    else for (const listener of this.#exitListeners) this.#call(() => listener(run, exit));
  }

  protected tellLost(): void {
    for (const listener of this.#lostListeners) this.#call(listener);
  }

  #call(listener: () => void): void {
    try {
      listener();
    } catch (error) {
      this.#logger.error({ reason: messageOf(error) }, `a listener of runtime ${this.key} failed`);
    }
  }
}
