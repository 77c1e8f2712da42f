/**
 * Looks at every key again from time to time, in case an event was missed. The keys are spread over the period, so that
 * ten thousand keys make a trickle, not a wave.
 */
import type { Clock, TimerHandle } from './clock.js';
import type { Part } from './lifecycle.js';

interface ResyncOptions {
  readonly clock: Clock;
  /** The length of a period, in which every key is looked at once. */
  readonly everyMs: number;
  /** The keys, read at the start of each period. */
  readonly keys: () => Iterable<string>;
  /** Called for each key when its turn comes. */
  readonly onTurn: (key: string) => void;
}

/** The most batches in a period: few enough that an idle node hardly wakes, many enough that each batch is small. */
const MOST_BATCHES = 300;

export class Resync implements Part {
  readonly #options: ResyncOptions;
  #timer: TimerHandle | undefined;
  #isRunning = false;

  constructor(options: ResyncOptions) {
    this.#options = options;
  }

  /** Starts the first period. The first batch of keys comes after one part of the period. */
  start(): void {
    if (this.#isRunning) return;
    this.#isRunning = true;
    this.#startPeriod();
  }

  stop(): void {
    this.#isRunning = false;
    this.#timer?.cancel();
  }

  #startPeriod(): void {
    const keys = [...this.#options.keys()];
    this.#scheduleBatch(keys, 0, Math.max(1, Math.min(keys.length, MOST_BATCHES)));
  }

  #scheduleBatch(keys: readonly string[], batch: number, batches: number): void {
    this.#timer = this.#options.clock.setTimer(this.#options.everyMs / batches, () => {
      const from = Math.floor((batch * keys.length) / batches);
      const to = Math.floor(((batch + 1) * keys.length) / batches);
      for (const key of keys.slice(from, to)) this.#options.onTurn(key);
      if (!this.#isRunning) return;
      if (batch + 1 < batches) this.#scheduleBatch(keys, batch + 1, batches);
      else this.#startPeriod();
    });
  }
}
