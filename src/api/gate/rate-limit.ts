/**
 * The rate limit for calls of PUBLIC keys, and for reports of instances with their own keys: a sliding window, bounded
 * in memory. Callers pass the time, in monotonic milliseconds. Refusals have no limit, but their lines in the log have one:
 * src/loop/failure-limiter.ts.
 */

const MAX_CALLERS = 20_000;

/** Allows at most `limit` calls of one caller in any `windowMs`. Refused calls do not count. */
export class SlidingWindow {
  readonly #limit: number;
  readonly #windowMs: number;
  /**
   * The calls of each caller, in order of the first call. Beyond the limit of callers, the oldest caller is forgotten
   * and begins anew.
   */
  readonly #calls = new Map<string, number[]>();

  constructor(limit: number, windowMs: number) {
    this.#limit = limit;
    this.#windowMs = windowMs;
  }

  /** Counts a call. Returns 0 when the call is within the limit, otherwise how many milliseconds to wait. */
  take(caller: string, now: number): number {
    const calls = this.#calls.get(caller) ?? this.#begin(caller);
    while (calls.length > 0 && (calls[0] ?? 0) <= now - this.#windowMs) calls.shift();
    if (calls.length < this.#limit) {
      calls.push(now);
      return 0;
    }
    return Math.max(1, Math.ceil((calls[0] ?? now) + this.#windowMs - now));
  }

  /** Forgets the calls of a caller that is gone. */
  forget(caller: string): void {
    this.#calls.delete(caller);
  }

  #begin(caller: string): number[] {
    const [first] = this.#calls.keys();
    if (this.#calls.size >= MAX_CALLERS && first !== undefined) this.#calls.delete(first);
    const calls: number[] = [];
    this.#calls.set(caller, calls);
    return calls;
  }
}
