/**
 * Logs the same cause again only after a growing pause, for failures that repeat and would fill the log. A cause that
 * did not occur for as long as its pause counts as new.
 */
import type { Logger } from './logger.js';

const FIRST_PAUSE_MS = 60_000;
const MAX_PAUSE_MS = 3_600_000;
const MAX_CAUSES = 500;

interface Cause {
  count: number;
  pauseMs: number;
  saidAt: number;
}

export class RepeatedLog {
  readonly #logger: Pick<Logger, 'warn'>;
  readonly #monotonic: () => number;
  readonly #causes = new Map<string, Cause>();

  constructor(logger: Pick<Logger, 'warn'>, monotonic: () => number) {
    this.#logger = logger;
    this.#monotonic = monotonic;
  }

  /** Logs `message` the first time that `cause` is given, then after a minute, two, four, up to an hour. */
  warn(cause: string, message: string, fields: Readonly<Record<string, unknown>> = {}): void {
    const now = this.#monotonic();
    const known = this.#causes.get(cause);
    if (known === undefined || now - known.saidAt > 2 * known.pauseMs) {
      this.#remember(cause, { count: 0, pauseMs: FIRST_PAUSE_MS, saidAt: now });
      this.#logger.warn({ ...fields }, message);
      return;
    }
    known.count++;
    if (now - known.saidAt < known.pauseMs) return;
    this.#logger.warn({ ...fields, times: known.count }, `${message} (${known.count} times more)`);
    this.#remember(cause, { count: 0, pauseMs: Math.min(2 * known.pauseMs, MAX_PAUSE_MS), saidAt: now });
  }

  /** Forgets a cause, because it has gone well: the next failure is news. */
  clear(cause?: string): void {
    if (cause === undefined) this.#causes.clear();
    else this.#causes.delete(cause);
  }

  #remember(cause: string, value: Cause): void {
    this.#causes.delete(cause);
    this.#causes.set(cause, value);
    const [oldest] = this.#causes.keys();
    if (this.#causes.size > MAX_CAUSES && oldest !== undefined) this.#causes.delete(oldest);
  }
}
