/**
 * The one time line of a simulation. Everything that happens is an event on it, one at a time. The promises that an
 * event settles have run before the next event. No real timer and no turn of the event loop decides the order.
 */
import { Heap } from '../../src/loop/heap.js';

interface Event {
  readonly dueAt: number;
  readonly order: number;
  readonly action: () => void;
  slot: number;
  isPending: boolean;
}

/** Time goes in whole ticks, a power of two: sums of them are exact, and no wait that is not over has none left. */
const TICK_MS = 2 ** -10;
/** Now and then the real event loop gets a turn, for the test runner and for rejections that nobody handled. */
const EVENTS_PER_TURN = 5000;
/** More than any fleet has to do at one instant: something goes round in circles. */
const MOST_AT_ONCE = 200_000;

export class Scheduler {
  readonly #events = new Heap<Event>(
    (a, b) => a.dueAt < b.dueAt || (a.dueAt === b.dueAt && a.order < b.order),
  );
  #now = 0;
  #order = 0;
  #atOnce = 0;

  /** Virtual ms since the simulation began. */
  get now(): number {
    return this.#now;
  }

  /** Events so far, for figures. */
  get count(): number {
    return this.#order;
  }

  /** Returns the function that takes the event back. */
  after(delayMs: number, action: () => void): () => void {
    const dueAt = this.#now + Math.ceil(Math.max(0, delayMs) / TICK_MS) * TICK_MS;
    const event: Event = { dueAt, order: this.#order++, action, slot: -1, isPending: true };
    this.#events.push(event);
    return () => {
      if (event.isPending) this.#events.remove(event);
      event.isPending = false;
    };
  }

  /** Runs everything that is due within `ms`. Ends early, with the error, when an event or what it set off throws. */
  async advance(ms: number): Promise<void> {
    const target = this.#now + Math.ceil(ms / TICK_MS) * TICK_MS;
    // Called by a callback of the event loop itself, such as a message to a thread, a tick would come before the
    // promises.
    await Promise.resolve();
    await settle();
    for (let event = this.#events.peek(); event !== undefined; event = this.#events.peek()) {
      if (event.dueAt > target) break;
      this.#events.remove(event);
      event.isPending = false;
      this.#countInstant(event.dueAt);
      this.#now = event.dueAt;
      event.action();
      await settle();
      if (event.order % EVENTS_PER_TURN === 0) await new Promise<void>((resolve) => setImmediate(resolve));
    }
    this.#now = target;
  }

  #countInstant(at: number): void {
    this.#atOnce = at === this.#now ? this.#atOnce + 1 : 0;
    if (this.#atOnce > MOST_AT_ONCE) throw new Error(`the fleet never comes to an end of ${at} ms`);
  }
}

/** Node runs a tick only when no microtask is left: then all promises have settled as far as they can. */
function settle(): Promise<void> {
  return new Promise((resolve) => process.nextTick(resolve));
}
