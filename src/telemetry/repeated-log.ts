/**
 * Logs the same cause again only after a growing pause (repeats.ts), for failures that would fill the log by repeating.
 */
import type { Clock } from '../loop/clock.js';
import type { Logger } from './logger.js';
import { Repeats } from './repeats.js';

export class RepeatedLog {
  readonly #logger: Pick<Logger, 'warn' | 'error'>;
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #level: 'warn' | 'error';
  readonly #repeats = new Repeats();

  constructor(
    logger: Pick<Logger, 'warn' | 'error'>,
    clock: Pick<Clock, 'monotonic'>,
    level: 'warn' | 'error' = 'warn',
  ) {
    this.#logger = logger;
    this.#clock = clock;
    this.#level = level;
  }

  /** Logs `message` at the first occurrence of `cause`, then after a minute, two, four, up to an hour. */
  say(cause: string, message: string, fields: Readonly<Record<string, unknown>> = {}): void {
    const times = this.#repeats.take(cause, this.#clock.monotonic());
    if (times === undefined) return;
    if (times === 0) this.#logger[this.#level]({ ...fields }, message);
    else this.#logger[this.#level]({ ...fields, times }, `${message} (${times} times more)`);
  }

  /** Forgets all causes after a success, so that the next failure is logged at once. */
  clear(): void {
    this.#repeats.clear();
  }
}
