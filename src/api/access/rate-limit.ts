/**
 * The two rate limits of the API: failed authentications by address (token bucket), and calls of PUBLIC keys
 * (sliding window). Both are bounded in memory. Callers pass the time, in monotonic milliseconds.
 */

const MAX_ADDRESSES = 10_000;

export interface FailureLimiterOptions {
  /** How many failures an address may have at once. Default 30. */
  readonly burst?: number;
  /** The time after which one more failure is allowed. Default 2 s. */
  readonly refillMs?: number;
}

export interface FailureVerdict {
  /** 0: answer 401. More: answer 429 with this wait. */
  readonly retryAfterMs: number;
  /** True for the first refusal in a row: only that one is logged. */
  readonly isFirst: boolean;
}

interface Bucket {
  /** When the bucket is full again. This one number also says how many failures are left. */
  fullAt: number;
  isRefusing: boolean;
}

const PASS: FailureVerdict = { retryAfterMs: 0, isFirst: false };

/**
 * Counts failed authentications by address. Requests that may go on do not come here, so that one bad client cannot
 * lock out the others behind its address.
 */
export class FailureLimiter {
  readonly #burst: number;
  readonly #refillMs: number;
  /** In order of the last failure. At the limit the address that has been quiet longest is forgotten. */
  readonly #buckets = new Map<string, Bucket>();

  constructor({ burst = 30, refillMs = 2000 }: FailureLimiterOptions = {}) {
    this.#burst = burst;
    this.#refillMs = refillMs;
  }

  /** Counts one failure of `address` and says how to answer it. */
  fail(address: string, now: number): FailureVerdict {
    const bucket = this.#touch(address, now);
    const fullAt = Math.max(bucket.fullAt, now) + this.#refillMs;
    const retryAfterMs = Math.ceil(fullAt - now - this.#burst * this.#refillMs);
    if (retryAfterMs > 0) {
      const isFirst = !bucket.isRefusing;
      bucket.isRefusing = true;
      return { retryAfterMs, isFirst };
    }
    bucket.fullAt = fullAt;
    bucket.isRefusing = false;
    return PASS;
  }

  #touch(address: string, now: number): Bucket {
    const bucket = this.#buckets.get(address) ?? { fullAt: now, isRefusing: false };
    this.#buckets.delete(address);
    this.#buckets.set(address, bucket);
    if (this.#buckets.size > MAX_ADDRESSES) {
      const oldest = this.#buckets.keys().next();
      if (oldest.done !== true) this.#buckets.delete(oldest.value);
    }
    return bucket;
  }
}

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
