/** Logs the same cause again only after a growing pause (repeats.ts), for failures that repeat and would fill the log. */
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

  /** Logs `message` the first time that `cause` is given, then after a minute, two, four, up to an hour. */
  warn(cause: string, message: string, fields: Readonly<Record<string, unknown>> = {}): void {
    this.#log('warn', cause, message, fields);
  }

  /** The same at level `error`. */
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

  /** Forgets a cause, because it has gone well: the next failure is news. */
  clear(cause?: string): void {
    this.#repeats.clear(cause);
  }
}
