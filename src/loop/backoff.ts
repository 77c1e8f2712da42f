/** The delays between the tries of a failing key: doubled after each failure, with jitter, forgotten on success. */

export interface BackoffOptions {
  /** The full first delay. Default 50 ms. */
  readonly baseMs?: number;
  /** The longest full delay. Default 60 s. */
  readonly maxMs?: number;
}

export class Backoff {
  readonly #random: () => number;
  readonly #baseMs: number;
  readonly #maxMs: number;
  /** The full delay after the next failure, by key. */
  readonly #nextMs = new Map<string, number>();

  /** `random` returns a number in [0, 1). */
  constructor(random: () => number, { baseMs = 50, maxMs = 60_000 }: BackoffOptions = {}) {
    this.#random = random;
    this.#baseMs = Math.min(baseMs, maxMs);
    this.#maxMs = maxMs;
  }

  /** How many keys failed and were not cleared since. */
  get size(): number {
    return this.#nextMs.size;
  }

  /** True when `key` failed and was not cleared since. */
  has(key: string): boolean {
    return this.#nextMs.has(key);
  }

  /** Counts a failure of `key`. Returns the delay in ms, between half and all of the full delay. */
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
