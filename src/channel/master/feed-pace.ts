/**
 * Decides when the feeds of all nodes send, and when reports are acknowledged. A message costs about as much as ten
 * changes in it: encryption, system calls, the node's report on it and its acknowledgement. So after many messages at
 * once the feeds pause for a while, and the changes of that time travel together. A master that sends few messages
 * never waits.
 */
import type { Clock, TimerHandle } from '../../loop/clock.js';

/**
 * How long the feeds pause for each message that they have sent. A pause below LEAST_REST_MS is left out, because
 * timers are not that precise.
 */
const REST_MS = 0.5;
const LEAST_REST_MS = 1;
const MOST_REST_MS = 250;

export class FeedPace {
  readonly #clock: Pick<Clock, 'setTimer'>;
  #waiting: (() => void)[] = [];
  #isDue = false;
  #rest: TimerHandle | undefined;

  constructor(clock: Pick<Clock, 'setTimer'>) {
    this.#clock = clock;
  }

  /** Lets no sender go on any more. Idempotent. */
  stop(): void {
    this.#rest?.cancel();
    this.#waiting = [];
  }

  /** Resolves at once, or after the present pause between batches. Never resolves after `stop`. */
  turn(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      if (this.#isDue || this.#rest !== undefined) return;
      this.#isDue = true;
      queueMicrotask(() => this.#goOn());
    });
  }

  #goOn(): void {
    this.#isDue = false;
    const due = this.#waiting;
    this.#waiting = [];
    for (const resolve of due) resolve();
    const restMs = Math.min(due.length * REST_MS, MOST_REST_MS);
    if (restMs < LEAST_REST_MS) return;
    this.#rest = this.#clock.setTimer(restMs, () => {
      this.#rest = undefined;
      this.#goOn();
    });
  }
}
