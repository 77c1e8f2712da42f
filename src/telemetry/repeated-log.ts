/**
 * Logs the same cause again only after a growing pause (repeats.ts), for failures that would fill the log by repeating.
 */
import type { Logger } from './logger.js';
import { Repeats } from './repeats.js';

export class RepeatedLog {
  readonly #logger: Pick<Logger, 'warn' | 'error'>;
  readonly #monotonic: () => number;
  readonly #repeats = new Repeats();

  constructor(logger: Pick<Logger, 'warn' | 'error'>, monotonic: () => number) {
    this.#logger = logger;
    this.#monotonic = monotonic;
  }

  /** Logs `message` at the first occurrence of `cause`, then after a minute, two, four, up to an hour. */
  warn(cause: string, message: string, fields: Readonly<Record<string, unknown>> = {}): void {
    this.#log('warn', cause, message, fields);
  }

  /** Like `warn`, at level `error`. */
  error(cause: string, message: string, fields: Readonly<Record<string, unknown>> = {}): void {
    this.#log('error', cause, message, fields);
  }

  #log(
    level: 'warn' | 'error',
    cause: string,
    message: string,
    fields: Readonly<Record<string, unknown>>,
  ): void {
    const times = this.#repeats.take(cause, this.#monotonic());
    if (times === undefined) return;
    if (times === 0) this.#logger[level]({ ...fields }, message);
    else this.#logger[level]({ ...fields, times }, `${message} (${times} times more)`);
  }

  /** Forgets a cause after a success, so that its next failure is logged at once. Default: all causes. */
  clear(cause?: string): void {
    this.#repeats.clear(cause);
  }
}
