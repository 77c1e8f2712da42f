/** The delays between the tries of a failing key: doubled after each failure, with jitter, forgotten on success. */

export interface BackoffOptions {
  /** The full first delay. Default 50 ms. */
  readonly baseMs?: number;
  /** The longest full delay. Default 60 s. */
  readonly maxMs?: number;
}

/** The full delay after a failure, without jitter. `failures`: how many failures in a row came before it. */
export function backoffMs(failures: number, { baseMs, maxMs }: Required<BackoffOptions>): number {
  return Math.min(baseMs * 2 ** failures, maxMs);
}

/** Counts the failures of keys, and gives delays with jitter. A success forgets the failures of its key. */
export class Backoff {
  readonly #random: () => number;
  readonly #baseMs: number;
  readonly #maxMs: number;
  /** How often each key failed since it was cleared. */
  readonly #failures = new Map<string, number>();

  /** `random` returns a number in [0, 1). */
  constructor(random: () => number, { baseMs = 50, maxMs = 60_000 }: BackoffOptions = {}) {
    this.#random = random;
    this.#baseMs = baseMs;
    this.#maxMs = maxMs;
  }

  /** How many keys failed and were not cleared since. */
  get size(): number {
    return this.#failures.size;
  }

  /** True when `key` failed and was not cleared since. */
  has(key: string): boolean {
    return this.#failures.has(key);
  }

  /**
   * Counts a failure of `key`, and returns the delay in ms, between half and all of the full delay. `key` may be left
   * out when the object serves a single purpose.
   */
  next(key = ''): number {
    const failures = this.#failures.get(key) ?? 0;
    this.#failures.set(key, failures + 1);
    const fullMs = backoffMs(failures, { baseMs: this.#baseMs, maxMs: this.#maxMs });
    return (fullMs / 2) * (1 + this.#random());
  }

  /** Forgets the failures of `key`. */
  clear(key = ''): void {
    this.#failures.delete(key);
  }
}
