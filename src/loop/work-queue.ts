/**
 * Decides which key is next. A key has only one entry, however often it is added. A taken key is not handed out again
 * before `done`. The queue runs nothing itself: the controller takes keys and gives them back.
 */
import type { Clock, TimerHandle } from './clock.js';
import { Heap } from './heap.js';
import type { QueueGauge } from './trace.js';

export type Priority = 'high' | 'normal' | 'low';

export interface AddOptions {
  /** How long from now the key waits before it is handed out. Default 0: at once, without a timer. */
  readonly afterMs?: number;
  /** Default `normal`. */
  readonly priority?: Priority;
}

/**
 * ```
 *  add, later --> delayed --time--> ready --take--> running --done--> forgotten
 *  add, now  ----------------------->|                 | add
 *                    delayed/ready <-----done------- held
 * ```
 */
type Place = 'delayed' | 'ready' | 'running' | 'held';

interface Entry {
  readonly key: string;
  /** The order of adding, which decides between equal entries. */
  order: number;
  rank: number;
  dueAt: number;
  place: Place;
  slot: number;
}

const RANK = { high: 0, normal: 1, low: 2 } as const satisfies Record<Priority, number>;

function isDueBefore(a: Entry, b: Entry): boolean {
  return a.dueAt < b.dueAt || (a.dueAt === b.dueAt && a.order < b.order);
}

function isTakenBefore(a: Entry, b: Entry): boolean {
  return a.rank < b.rank || (a.rank === b.rank && isDueBefore(a, b));
}

export class WorkQueue {
  readonly #clock: Clock;
  readonly #entries = new Map<string, Entry>();
  readonly #ready = new Heap<Entry>(isTakenBefore);
  readonly #delayed = new Heap<Entry>(isDueBefore);
  /** How many keys are taken. `#held`: how many of the taken keys were added again since. */
  #taken = 0;
  #held = 0;
  #order = 0;
  #timer: TimerHandle | undefined;
  #timerDueAt = 0;
  #ringReady: () => void = () => {};
  #isStopped = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** How many keys wait: due, not yet due, or added again while they run. Never more than the number of keys. */
  get size(): number {
    return this.#entries.size - this.#taken + this.#held;
  }

  /** True when no key is due and no key is taken. */
  get isIdle(): boolean {
    if (this.#taken > 0 || this.#ready.size > 0) return false;
    const next = this.#delayed.peek();
    return next === undefined || next.dueAt > this.#clock.monotonic();
  }

  /** Asks for `key`. Repeated adds merge: the earliest due time and the highest priority win. */
  add(key: string, { afterMs = 0, priority = 'normal' }: AddOptions = {}): void {
    if (this.#isStopped) return;
    const now = this.#clock.monotonic();
    const dueAt = afterMs > 0 ? now + afterMs : now;
    const rank = RANK[priority];
    const entry = this.#entries.get(key);
    if (entry === undefined)
      this.#insert({ key, order: this.#order++, rank, dueAt, place: 'held', slot: -1 }, now);
    else if (entry.place === 'running') this.#hold(entry, rank, dueAt);
    else this.#merge(entry, rank, dueAt);
  }

  /**
   * Takes the next due key, by priority and then by due time; undefined: no key is due. The caller must call `done` for
   * it.
   */
  take(): string | undefined {
    if (this.#delayed.size > 0) this.#promote();
    const entry = this.#ready.pop();
    if (entry === undefined) return undefined;
    entry.place = 'running';
    this.#taken++;
    return entry.key;
  }

  /** Gives a taken key back. A key that was added meanwhile begins to wait again. */
  done(key: string): void {
    const entry = this.#entries.get(key);
    this.#taken--;
    if (entry?.place === 'running') this.#entries.delete(key);
    if (entry?.place !== 'held') return;
    this.#held--;
    this.#place(entry);
  }

  /**
   * Sets the consumer's callback, which is called inside `add`, `done` or a timer each time the first key becomes
   * due. A consumer that leaves due keys in the queue gets no further call for them: it must take them later by
   * itself.
   */
  onReady(callback: () => void): void {
    this.#ringReady = callback;
  }

  /** The number of due keys and their longest wait. It visits all waiting keys, so it is meant for a scrape. */
  gauge(): QueueGauge {
    const now = this.#clock.monotonic();
    let depth = 0;
    let longestWaitMs = 0;
    for (const entry of this.#entries.values()) {
      if (entry.place === 'running' || entry.place === 'held' || entry.dueAt > now) continue;
      depth++;
      longestWaitMs = Math.max(longestWaitMs, now - entry.dueAt);
    }
    return { depth, longestWaitMs };
  }

  /** Forgets all waiting keys and the timer, and accepts no more. Taken keys may still be given back. Idempotent. */
  stop(): void {
    this.#isStopped = true;
    this.#timer?.cancel();
    for (const [key, entry] of this.#entries) {
      if (entry.place === 'held') entry.place = 'running';
      else if (entry.place !== 'running') this.#entries.delete(key);
    }
    this.#held = 0;
    this.#ready.clear();
    this.#delayed.clear();
  }

  #insert(entry: Entry, now: number): void {
    this.#entries.set(entry.key, entry);
    this.#place(entry, now);
  }

  /** Keeps the request until the key is given back. */
  #hold(entry: Entry, rank: number, dueAt: number): void {
    entry.place = 'held';
    entry.order = this.#order++;
    entry.rank = rank;
    entry.dueAt = dueAt;
    this.#held++;
  }

  #merge(entry: Entry, rank: number, dueAt: number): void {
    if (rank >= entry.rank && dueAt >= entry.dueAt) return;
    if (entry.place === 'delayed') this.#delayed.remove(entry);
    entry.rank = Math.min(rank, entry.rank);
    entry.dueAt = Math.min(dueAt, entry.dueAt);
    if (entry.place === 'delayed') this.#place(entry);
    if (entry.place === 'ready') this.#ready.update(entry);
  }

  #place(entry: Entry, now = this.#clock.monotonic()): void {
    if (entry.dueAt <= now) {
      this.#makeReady(entry);
      return;
    }
    entry.place = 'delayed';
    this.#delayed.push(entry);
    this.#setTimer();
  }

  #makeReady(entry: Entry): void {
    entry.place = 'ready';
    this.#ready.push(entry);
    if (this.#ready.size === 1) this.#ringReady();
  }

  #promote(): void {
    const now = this.#clock.monotonic();
    for (let next = this.#delayed.peek(); next !== undefined; next = this.#delayed.peek()) {
      if (next.dueAt > now) return;
      this.#delayed.remove(next);
      this.#makeReady(next);
    }
  }

  /** Sets a timer for the earliest delayed key. A timer that fires too early only looks again. */
  #setTimer(): void {
    const next = this.#delayed.peek();
    if (next === undefined || (this.#timer !== undefined && this.#timerDueAt <= next.dueAt)) return;
    this.#timer?.cancel();
    this.#timerDueAt = next.dueAt;
    this.#timer = this.#clock.setTimer(next.dueAt - this.#clock.monotonic(), () => {
      this.#timer = undefined;
      this.#promote();
      this.#setTimer();
    });
  }
}
