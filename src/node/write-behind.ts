/**
 * Writes a wrapper's state to its own disk in the background: the newest value of each key, in batches, so that a
 * restart waits for no fsync. After a kill, runtimes and feed report lost values again.
 */

import type { z } from 'zod';
import { Bell } from '../loop/bell.js';
import { messageOf } from '../model/errors.js';
import { problemOf } from '../model/public-message.js';
import type { Operation, Store } from '../store/store.js';
import { inSteps } from '../store/transaction.js';
import type { Ambient } from '../telemetry/ambient.js';

/**
 * How long changes are gathered. A start makes five changes in a few milliseconds, and their fsyncs would delay the
 * master's own on the same disk.
 */
const GATHER_MS = 50;
const RETRY_MS = 1000;
const SET_ASIDE = 'set-aside/';

/** The stored values under a prefix, by id. */
interface Loaded<T> {
  readonly readable: ReadonlyMap<string, T>;
  /** The values that did not decode, in their stored form. */
  readonly unreadable: ReadonlyMap<string, unknown>;
}

interface WriteBehindOptions extends Ambient {
  readonly store: Store;
}

export class WriteBehind {
  readonly #options: WriteBehindOptions;
  #waiting = new Map<string, unknown>();
  /** The batch on its way to the disk, and the promise of its end. */
  #batch: ReadonlyMap<string, unknown> = new Map();
  #trying: Promise<unknown> = Promise.resolve();
  #writing: Promise<void> | undefined;
  #isFailing = false;
  #isStopping = false;
  /** Cuts the wait before the next write short. */
  readonly #goOn = new Bell();
  /** Callers that wait for the end of the next try. */
  readonly #awaitingTry: (() => void)[] = [];

  constructor(options: WriteBehindOptions) {
    this.#options = options;
  }

  /**
   * Reads the stored values under `prefix`, by id. A value that does not fit `schema` is logged and copied unchanged to
   * `set-aside/<key>`.
   */
  async load<T>(prefix: string, schema: z.ZodType<T>): Promise<Loaded<T>> {
    const { store, logger } = this.#options;
    const readable = new Map<string, T>();
    const unreadable = new Map<string, unknown>();
    for (const { key, value } of (await store.list(prefix)).entries) {
      const id = key.slice(prefix.length);
      try {
        readable.set(id, schema.parse(value));
      } catch (error) {
        unreadable.set(id, value);
        this.put(SET_ASIDE + key, value);
        logger.error(
          { key },
          `the node's own record ${key} cannot be read (${problemOf(error)}): it is kept as ${SET_ASIDE}${key}`,
        );
      }
    }
    return { readable, unreadable };
  }

  /** Sets a value; `undefined` removes the key. Never throws; the value is written later. */
  put(key: string, value: unknown): void {
    this.#waiting.set(key, value);
    this.#writing ??= this.#writeLater();
  }

  /** Resolves when every value put so far is on disk. Waits for the next batch, while `flush` writes at once. */
  async written(): Promise<void> {
    while (this.#writing !== undefined) await this.#writing;
  }

  /** Writes all waiting changes now, and resolves when they are on disk. */
  async flush(): Promise<void> {
    await this.tryToWrite();
    await this.written();
  }

  /**
   * Writes the waiting changes now. Resolves when the newest values of `keys` (default: all) are on disk, or their
   * write has failed and is put off. Values in a write under way are not written again.
   */
  async tryToWrite(
    keys: readonly string[] = [...this.#batch.keys(), ...this.#waiting.keys()],
  ): Promise<void> {
    if (keys.some((key) => this.#waiting.has(key))) {
      const tried = new Promise<void>((resolve) => this.#awaitingTry.push(resolve));
      this.#goOn.ring();
      await tried;
    } else if (keys.some((key) => this.#batch.has(key))) await this.#trying;
  }

  /**
   * Writes all waiting changes. Changes that cannot be written are dropped; the next daemon learns them again from
   * runtimes and feed. Idempotent.
   */
  async stop(): Promise<void> {
    this.#isStopping = true;
    await this.flush();
  }

  async #writeLater(): Promise<void> {
    await this.#pause(GATHER_MS);
    while (this.#waiting.size > 0) {
      const batch = this.#waiting;
      this.#batch = batch;
      const awaitingTry = this.#awaitingTry.splice(0);
      this.#waiting = new Map();
      const trying = this.#write(batch);
      this.#trying = trying;
      const isWritten = await trying;
      this.#batch = new Map();
      // Retry a failed batch, but keep newer values of the same keys.
      if (!isWritten && !this.#isStopping) this.#waiting = new Map([...batch, ...this.#waiting]);
      for (const resolve of awaitingTry) resolve();
      // Do not pause when a caller asked for a write during this one: that caller waits for the next write.
      if (this.#waiting.size === 0 || this.#awaitingTry.length > 0) continue;
      await this.#pause(isWritten ? GATHER_MS : RETRY_MS);
    }
    this.#writing = undefined;
    for (const resolve of this.#awaitingTry.splice(0)) resolve();
  }

  /** Waits for `ms`, or until `flush` cuts the wait short. */
  async #pause(ms: number): Promise<void> {
    const { clock } = this.#options;
    if (!this.#isStopping) await this.#goOn.wait(undefined, { clock, ms });
  }

  async #write(batch: ReadonlyMap<string, unknown>): Promise<boolean> {
    const operations: Operation[] = [];
    for (const [key, value] of batch)
      operations.push(value === undefined ? { do: 'remove', key } : { do: 'put', key, value });
    try {
      // Begin all steps at once, so that they share one commit. After a failure the whole batch is written again.
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
