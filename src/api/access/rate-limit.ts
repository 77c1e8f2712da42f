/**
 * The two rate limits of the API, both bounded in memory: failed authentications by address (token bucket), and
 * calls of PUBLIC keys (sliding window). Time comes in with each call, in monotonic milliseconds.
 */

const MAX_ADDRESSES = 10_000;

export interface FailureLimiterOptions {
  /** Failures that an address may have at once. Default 30. */
  readonly burst?: number;
  /** One more is allowed after each of these. Default 2 s. */
  readonly refillMs?: number;
}

export interface FailureVerdict {
  /** 0: answer 401. More: answer 429 with this wait. */
  readonly retryAfterMs: number;
  /** True for the first refusal of a run, which is the one to log. */
  readonly isFirst: boolean;
}

interface Bucket {
  /** The instant at which the bucket is full again: one number says how many are left. */
  fullAt: number;
  isRefusing: boolean;
}

const PASS: FailureVerdict = { retryAfterMs: 0, isFirst: false };

/**
 * Counts failed authentications by address. A right token is never refused here, so that one bad client behind
 * an address cannot lock the others out.
 */
export class FailureLimiter {
  readonly #burst: number;
  readonly #refillMs: number;
  /** In order of last failure: the longest quiet address is forgotten first. */
  readonly #buckets = new Map<string, Bucket>();

  constructor({ burst = 30, refillMs = 2000 }: FailureLimiterOptions = {}) {
    this.#burst = burst;
    this.#refillMs = refillMs;
  }

  /** Takes one failure of `address` into account. */
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

/** At most `limit` calls of one key in any `windowMs`; refused calls do not count. */
export class SlidingWindow {
  readonly #limit: number;
  readonly #windowMs: number;
  readonly #calls = new Map<string, number[]>();

  constructor(limit = 100, windowMs = 60_000) {
    this.#limit = limit;
    this.#windowMs = windowMs;
  }

  /** Counts a call; 0 when it is within the limit, else the milliseconds to wait. */
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

  /** Drops what is kept of a key that is gone. */
  forget(key: string): void {
    this.#calls.delete(key);
  }
}
