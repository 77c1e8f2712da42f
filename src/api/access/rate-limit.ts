/**
 * The rate limit for calls of PUBLIC keys: a sliding window, bounded in memory. Callers pass the time, in monotonic
 * milliseconds. The limit for failed authentications is src/loop/failure-limiter.ts.
 */

/** Allows at most `limit` calls of one key in any `windowMs`. Refused calls do not count. */
export class SlidingWindow {
  readonly #limit: number;
  readonly #windowMs: number;
  readonly #calls = new Map<string, number[]>();

  constructor(limit = 100, windowMs = 60_000) {
    this.#limit = limit;
    this.#windowMs = windowMs;
  }

  /** Counts a call. Returns 0 when it is within the limit, else how many milliseconds to wait. */
  take(key: string, now: number): number {
    const calls = this.#calls.get(key) ?? [];
    this.#calls.set(key, calls);
    while (calls.length > 0 && (calls[0] ?? 0) <= now - this.#windowMs) calls.shift();
    if (calls.length < this.#limit) {
      calls.push(now);
      return 0;
    }
    return Math.max(1, Math.ceil((calls[0] ?? now) + this.#windowMs - now));
  }

  /** Forgets the calls of a key that is gone. */
  forget(key: string): void {
    this.#calls.delete(key);
  }
}
