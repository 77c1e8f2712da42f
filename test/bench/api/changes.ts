/** Reports of state at a steady rate. */
import type { BenchDaemon } from '../world.js';

const EVERY_MS = 10;

const DAY_MS = 86_400_000;

/** Milliseconds of the day, by which two processes compare instants. A larger number is no sensible `tps`. */
export function msOfDay(): number {
  return (performance.timeOrigin + performance.now()) % DAY_MS;
}

/**
 * Changes so many instances a second, one after the other: each gets another number of players, and `msOfDay` as `tps`.
 */
export class Changes {
  readonly #timer: NodeJS.Timeout;
  readonly #asked = new Set<Promise<unknown>>();
  readonly #startedAt = performance.now();
  #count = 0;
  #error: unknown;

  constructor(daemon: BenchDaemon, ids: readonly string[], perSecond: number) {
    this.#timer = setInterval(() => {
      const due = ((performance.now() - this.#startedAt) * perSecond) / 1000;
      for (; this.#count < due; this.#count++) {
        const id = ids[(this.#count * 7) % ids.length];
        const asked = daemon
          .request('PUT', `/instances/${id}/state`, { state: 'ONLINE', players: this.#count, tps: msOfDay() })
          .catch((error: unknown) => {
            this.#error = error;
          })
          .finally(() => this.#asked.delete(asked));
        this.#asked.add(asked);
      }
    }, EVERY_MS);
  }

  /** The number of players of the last change. */
  get last(): number {
    return this.#count - 1;
  }

  /** Resolves when every change is answered. Throws when one was refused. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await Promise.all(this.#asked);
    if (this.#error !== undefined) throw this.#error;
  }
}
