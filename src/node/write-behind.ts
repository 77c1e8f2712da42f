/**
 * Keeps a wrapper's memory on its own disk: the newest value of each key, written in batches behind the work, so
 * that no start waits for an fsync. What a kill loses of it is found again from the runtimes and the feed.
 */

import type { Clock, TimerHandle } from '../loop/clock.js';
import { messageOf } from '../model/errors.js';
import type { Entry, Operation, Store } from '../store/store.js';
import { inSteps } from '../store/transaction.js';
import type { Logger } from '../telemetry/logger.js';

/**
 * Changes are gathered for so long: a start makes five in a few milliseconds, and their fsync would delay that of the
 * master's own record on the same disk.
 */
const GATHER_MS = 50;
const RETRY_MS = 1000;

export interface WriteBehindOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly logger: Logger;
}

export class WriteBehind {
  readonly #options: WriteBehindOptions;
  #waiting = new Map<string, unknown>();
  #writing: Promise<void> | undefined;
  #isFailing = false;
  #isStopping = false;
  #goOn: (() => void) | undefined;
  /** Who waits for the end of the next try. */
  readonly #awaitingTry: (() => void)[] = [];

  constructor(options: WriteBehindOptions) {
    this.#options = options;
  }

  async load(prefix: string): Promise<readonly Entry[]> {
    return (await this.#options.store.list(prefix)).entries;
  }

  /** `value` undefined removes the key. Never throws; the write follows. */
  put(key: string, value: unknown): void {
    this.#waiting.set(key, value);
    this.#writing ??= this.#writeLater();
  }

  /** Resolves when everything put so far is on disk. Waits its turn; `flush` does not. */
  async written(): Promise<void> {
    while (this.#writing !== undefined) await this.#writing;
  }

  /** Writes what waits now, and resolves when it is on disk. */
  async flush(): Promise<void> {
    this.#goOn?.();
    await this.written();
  }

  /** Writes what waits now; resolves when it is on disk, or when this try has failed and the next one is put off. */
  async tryToWrite(): Promise<void> {
    if (this.#writing === undefined) return;
    const tried = new Promise<void>((resolve) => this.#awaitingTry.push(resolve));
    this.#goOn?.();
    await tried;
  }

  /** Writes what waits; what cannot be written now is given up, and found again by the next daemon. Idempotent. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    await this.flush();
  }

  async #writeLater(): Promise<void> {
    await this.#pause(GATHER_MS);
    while (this.#waiting.size > 0) {
      const batch = this.#waiting;
      const awaitingTry = this.#awaitingTry.splice(0);
      this.#waiting = new Map();
      const isWritten = await this.#write(batch);
      for (const resolve of awaitingTry) resolve();
      if (isWritten || this.#isStopping) continue;
      // Newer values win over those that could not be written.
      this.#waiting = new Map([...batch, ...this.#waiting]);
      await this.#pause(RETRY_MS);
    }
    this.#writing = undefined;
    for (const resolve of this.#awaitingTry.splice(0)) resolve();
  }

  /** Cut short by `flush`. */
  async #pause(ms: number): Promise<void> {
    if (this.#isStopping) return;
    let timer: TimerHandle | undefined;
    await new Promise<void>((resolve) => {
      this.#goOn = resolve;
      timer = this.#options.clock.setTimer(ms, resolve);
    });
    timer?.cancel();
    this.#goOn = undefined;
  }

  async #write(batch: ReadonlyMap<string, unknown>): Promise<boolean> {
    const operations: Operation[] = [];
    for (const [key, value] of batch)
      operations.push(value === undefined ? { do: 'remove', key } : { do: 'put', key, value });
    try {
      // Called together, so that one commit takes them all; what is lost of a batch is written again.
      await Promise.all(inSteps(operations).map((step) => this.#options.store.transact(step)));
      if (this.#isFailing) this.#options.logger.info('the node can keep its state on disk again');
      this.#isFailing = false;
      return true;
    } catch (error) {
      if (!this.#isFailing)
        this.#options.logger.error(
          { err: error },
          `the node cannot keep its state on disk: ${messageOf(error)}; going on in memory`,
        );
      this.#isFailing = true;
      return false;
    }
  }
}
