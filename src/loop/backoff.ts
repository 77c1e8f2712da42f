/** How long a failing key waits before it is tried again: doubled each time, with jitter, forgotten on success. */

export interface BackoffOptions {
  /** The longest first delay. Default 50 ms. */
  readonly baseMs?: number;
  /** No delay is longer. Default 60 s. */
  readonly maxMs?: number;
}

export class Backoff {
  readonly #random: () => number;
  readonly #baseMs: number;
  readonly #maxMs: number;
  /** By key, the full delay that its next failure is given. */
  readonly #nextMs = new Map<string, number>();

  /** `random` answers in [0, 1). */
  constructor(random: () => number, { baseMs = 50, maxMs = 60_000 }: BackoffOptions = {}) {
    this.#random = random;
    this.#baseMs = Math.min(baseMs, maxMs);
    this.#maxMs = maxMs;
  }

  /** Keys that failed and were not cleared since. */
  get size(): number {
    return this.#nextMs.size;
  }

  /** Counts a failure of `key` and answers the delay in ms: between half and all of the doubled one. */
  next(key: string): number {
    const fullMs = this.#nextMs.get(key) ?? this.#baseMs;
    this.#nextMs.set(key, Math.min(2 * fullMs, this.#maxMs));
    return (fullMs / 2) * (1 + this.#random());
  }

  /** Forgets the failures of `key`. */
  clear(key: string): void {
    this.#nextMs.delete(key);
  }
}
