/** Reports of state at a steady rate. */
import type { BenchDaemon } from '../world.js';

const EVERY_MS = 10;

/** Changes so many instances a second, one after the other: each gets another number of players, and the time as `tps`. */
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
        const tps = performance.timeOrigin + performance.now();
        const asked = daemon
          .request('PUT', `/instances/${id}/state`, { state: 'ONLINE', players: this.#count, tps })
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
