/**
 * A limit for failures by address: a token bucket, bounded in memory. Callers pass the time, in monotonic milliseconds.
 * The API folds its lines about refusals with it, the cluster port limits connections that it turned away.
 */

const MAX_ADDRESSES = 10_000;

interface FailureLimiterOptions {
  /** How many failures an address may have at once. Default 30. */
  readonly burst?: number;
  /** The time after which another failure is allowed. Default 2 s. */
  readonly refillMs?: number;
}

export interface FailureVerdict {
  /** 0: within the limit. More: over the limit, for this many milliseconds. */
  readonly retryAfterMs: number;
  /** True for the first refusal in a row: only the first is logged. */
  readonly isFirst: boolean;
}

interface Bucket {
  /** When the bucket is full again. This number also tells how many failures are left. */
  fullAt: number;
  isRefusing: boolean;
}

const PASS: FailureVerdict = { retryAfterMs: 0, isFirst: false };

/**
 * Counts failures by address. Successes are not counted, so that a bad client cannot lock out others behind its
 * address.
 */
export class FailureLimiter {
  readonly #burst: number;
  readonly #refillMs: number;
  /** The buckets in order of the last failure. At the limit the address with the oldest failure is forgotten. */
  readonly #buckets = new Map<string, Bucket>();

  constructor({ burst = 30, refillMs = 2000 }: FailureLimiterOptions = {}) {
    this.#burst = burst;
    this.#refillMs = refillMs;
  }

  /** Counts a failure of `address` and says how to answer it. A failure over the limit does not count. */
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

  /** True while a failure of `address` would be over the limit. */
  isOver(address: string, now: number): boolean {
    const fullAt = Math.max(this.#buckets.get(address)?.fullAt ?? now, now) + this.#refillMs;
    return fullAt - now > this.#burst * this.#refillMs;
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
