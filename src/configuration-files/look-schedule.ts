/**
 * Decides when to look at the directory next: soon after the last event, and at the latest at a set time. It has
 * one timer.
 */
import type { Clock, TimerHandle } from '../loop/clock.js';

/** The quiet time that ends a batch of events: a checkout writes its files in one go. */
const QUIET_MS = 50;
/** The longest wait for a directory that never falls quiet. */
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

  /** Plans a look for when the directory falls quiet: something may have changed. */
  hint(): void {
    const now = this.#clock.monotonic();
    this.#firstHintAt ??= now;
    this.#arm(Math.min(now + QUIET_MS, this.#firstHintAt + LONGEST_WAIT_MS));
  }

  /** Plans a look in `ms` at the latest. */
  within(ms: number): void {
    const dueAt = this.#clock.monotonic() + ms;
    if (dueAt < this.#dueAt) this.#arm(dueAt);
  }

  /** Ends all looks; later calls plan none. */
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
