/**
 * A clock with virtual time for tests. Time stands still until `advance` is called; then timers fire in order, one
 * after the other.
 */

import type { Clock, TimerHandle } from '../../src/loop/clock.js';
import { Heap } from '../../src/loop/heap.js';

interface Timer {
  readonly dueAt: number;
  readonly order: number;
  readonly callback: () => void;
  slot: number;
  isPending: boolean;
}

interface FakeClockOptions {
  /** The wall clock at the start, in Unix milliseconds. Default: 2026-01-01T00:00:00Z. */
  readonly startAt?: number;
  /** How many turns of the event loop pass after a timer before the next timer fires. Default 5. */
  readonly settleTurns?: number;
}

export class FakeClock implements Clock {
  readonly #timers = new Heap<Timer>(
    (a, b) => a.dueAt < b.dueAt || (a.dueAt === b.dueAt && a.order < b.order),
  );
  readonly #settleTurns: number;
  #elapsedMs = 0;
  #wallOffsetMs: number;
  #order = 0;

  constructor({ startAt = Date.UTC(2026, 0, 1), settleTurns = 5 }: FakeClockOptions = {}) {
    this.#wallOffsetMs = startAt;
    this.#settleTurns = settleTurns;
  }

  now(): number {
    return Math.floor(this.#wallOffsetMs + this.#elapsedMs);
  }

  monotonic(): number {
    return this.#elapsedMs;
  }

  /** How many timers are set and neither fired nor cancelled. */
  get pending(): number {
    return this.#timers.size;
  }

  setTimer(delayMs: number, callback: () => void): TimerHandle {
    const dueAt = this.#elapsedMs + Math.max(0, delayMs);
    const timer: Timer = { dueAt, order: this.#order++, callback, slot: -1, isPending: true };
    this.#timers.push(timer);
    return {
      cancel: () => {
        if (timer.isPending) this.#timers.remove(timer);
        timer.isPending = false;
      },
    };
  }

  nextTurn(callback: () => void): void {
    setImmediate(callback);
  }

  /**
   * Moves the time on. Each timer that becomes due fires at its own instant, in the order of due time and then of
   * setting; timers set meanwhile fire too. Microtasks and immediates settle before, between and after them.
   */
  async advance(ms: number): Promise<void> {
    await this.settle();
    const target = this.#elapsedMs + ms;
    for (let timer = this.#timers.peek(); timer !== undefined; timer = this.#timers.peek()) {
      if (timer.dueAt > target) break;
      this.#fire(timer);
      await this.settle();
    }
    this.#elapsedMs = Math.max(this.#elapsedMs, target);
    await this.settle();
  }

  /** Moves only the wall clock, as an operator or NTP does. */
  jumpWallClock(ms: number): void {
    this.#wallOffsetMs += ms;
  }

  /** Moves the time on without a timer, as for a process that is stopped: what became due fires late. */
  stall(ms: number): void {
    this.#elapsedMs += ms;
  }

  /** Lets pending microtasks and immediates run, without moving the time. */
  async settle(): Promise<void> {
    for (let turn = 0; turn < this.#settleTurns; turn++) {
      await new Promise<void>((resolve) => setImmediate(resolve));
    }
  }

  #fire(timer: Timer): void {
    this.#timers.remove(timer);
    timer.isPending = false;
    this.#elapsedMs = Math.max(this.#elapsedMs, timer.dueAt);
    timer.callback();
  }
}
