/**
 * The delay before an engine is asked again. It grows with each failure, so that a hung engine is never asked in a
 * loop.
 */
import { Backoff } from '../../../loop/backoff.js';
import type { Clock } from '../../../loop/clock.js';
import { pause } from '../../../loop/pause.js';

const BASE_MS = 200;
const MOST_MS = 10_000;

export class RetryDelay {
  readonly #clock: Clock;
  readonly #backoff: Backoff;

  constructor(clock: Clock, random: () => number) {
    this.#clock = clock;
    this.#backoff = new Backoff(random, { baseMs: BASE_MS, maxMs: MOST_MS });
  }

  /** Notes an answer: the next delay is the shortest again. */
  reset(): void {
    this.#backoff.clear();
  }

  /** Resolves after the delay, or at once when `signal` aborts. */
  async wait(signal: AbortSignal): Promise<void> {
    await pause(this.#clock, this.#backoff.next(), signal);
  }
}
