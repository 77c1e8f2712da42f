/** When to look at the directory next: soon after it fell quiet, and at the latest at an agreed time. One timer. */
import type { Clock, TimerHandle } from '../loop/clock.js';

/** A checkout writes its files in one go; this long without a further event, and they are one batch. */
const QUIET_MS = 50;
/** Something that never falls quiet is looked at all the same. */
const LONGEST_WAIT_MS = 500;

export class LookSchedule {
  readonly #clock: Clock;
  readonly #look: () => void;
  #timer: TimerHandle | undefined;
  #dueAt = Number.POSITIVE_INFINITY;
  #firstHintAt: number | undefined;
  #isStopped = false;

  constructor(clock: Clock, look: () => void) {
    this.#clock = clock;
    this.#look = look;
  }

  /** Something may have changed: look when it falls quiet. */
  hint(): void {
    const now = this.#clock.monotonic();
    this.#firstHintAt ??= now;
    this.#arm(Math.min(now + QUIET_MS, this.#firstHintAt + LONGEST_WAIT_MS));
  }

  /** Look in `ms` at the latest. */
  within(ms: number): void {
    const dueAt = this.#clock.monotonic() + ms;
    if (dueAt < this.#dueAt) this.#arm(dueAt);
  }

  /** No look comes any more, whatever is asked later. */
  stop(): void {
    this.#isStopped = true;
    this.#clear();
  }

  #clear(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#dueAt = Number.POSITIVE_INFINITY;
    this.#firstHintAt = undefined;
  }

  #arm(dueAt: number): void {
    if (this.#isStopped) return;
    this.#timer?.cancel();
    this.#dueAt = dueAt;
    this.#timer = this.#clock.setTimer(Math.max(0, dueAt - this.#clock.monotonic()), () => {
      this.#clear();
      this.#look();
    });
  }
}
