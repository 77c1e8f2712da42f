/** A clock that stands still while this process is stopped or starved, so that its own stalls count for nobody else. */
import type { Clock, TimerHandle } from './clock.js';

const TICK_MS = 500;
/** The longest time that a single tick counts: a later tick means that this process itself stalled. */
const MAX_TICK_MS = 1000;

export class WakingClock {
  readonly #clock: Clock;
  #base = 0;
  #lastTick: number;
  #timer: TimerHandle | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#lastTick = clock.monotonic();
  }

  /** Begins anew at 0. */
  start(): void {
    this.#timer?.cancel();
    this.#base = 0;
    this.#lastTick = this.#clock.monotonic();
    this.#scheduleTick();
  }

  /** Idempotent. */
  stop(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  /** The time that this process was awake since the start, ms. */
  now(): number {
    return this.#base + Math.min(this.#clock.monotonic() - this.#lastTick, MAX_TICK_MS);
  }

  #scheduleTick(): void {
    this.#timer = this.#clock.setTimer(TICK_MS, () => {
      this.#base = this.now();
      this.#lastTick = this.#clock.monotonic();
      this.#scheduleTick();
    });
  }
}
