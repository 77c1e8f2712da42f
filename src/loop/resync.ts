/**
 * Looks at every key again from time to time, in case an event was missed. The keys are spread over the period: ten
 * thousand of them make a trickle, not a wave.
 */
import type { Clock, TimerHandle } from './clock.js';
import type { Part } from './lifecycle.js';

export interface ResyncOptions {
  readonly clock: Clock;
  /** Length of a period: every key is looked at once in it. */
  readonly everyMs: number;
  /** Read once at the start of each period. */
  readonly keys: () => Iterable<string>;
  /** Called for each key when its turn comes. */
  readonly onTurn: (key: string) => void;
}

/** Few enough that an idle node hardly wakes, many enough that each batch is small. */
const MOST_BATCHES = 300;

export class Resync implements Part {
  readonly #options: ResyncOptions;
  #timer: TimerHandle | undefined;
  #isRunning = false;

  constructor(options: ResyncOptions) {
    this.#options = options;
  }

  /** Starts the first period. Its first keys come up after one part of it. */
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
