/** The loop against models: whatever is asked in whatever order, no round doubled, no key lost, the world converges. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Controller } from '../../src/loop/controller.js';
import { Heap } from '../../src/loop/heap.js';
import type { MaybePromise } from '../../src/loop/maybe-promise.js';
import { Conflict, type Reconciler } from '../../src/loop/reconciler.js';
import { type Priority, WorkQueue } from '../../src/loop/work-queue.js';
import { FakeClock } from '../support/fake-clock.js';

const keyArbitrary = fc.constantFrom('a', 'b', 'c', 'd', 'e');
const addArbitrary = fc.record({
  do: fc.constant('add' as const),
  key: keyArbitrary,
  afterMs: fc.constantFrom(0, 0, 1, 5, 20),
  priority: fc.constantFrom<Priority>('high', 'normal', 'low'),
});

/** The queue as a plain list, searched from end to end. */
class QueueModel {
  readonly running = new Set<string>();
  readonly #waiting = new Map<string, { dueAt: number; rank: number; order: number }>();
  #order = 0;

  add(key: string, now: number, afterMs: number, priority: Priority): void {
    const known = this.#waiting.get(key) ?? {
      dueAt: Number.POSITIVE_INFINITY,
      rank: 9,
      order: this.#order++,
    };
    const rank = ['high', 'normal', 'low'].indexOf(priority);
    this.#waiting.set(key, {
      dueAt: Math.min(known.dueAt, now + afterMs),
      rank: Math.min(known.rank, rank),
      order: known.order,
    });
  }

  due(now: number): string[] {
    return [...this.#waiting]
      .filter(([key, entry]) => entry.dueAt <= now && !this.running.has(key))
      .sort(([, a], [, b]) => a.rank - b.rank || a.dueAt - b.dueAt || a.order - b.order)
      .map(([key]) => key);
  }

  take(now: number): string | undefined {
    const [key] = this.due(now);
    if (key === undefined) return undefined;
    this.#waiting.delete(key);
    this.running.add(key);
    return key;
  }

  get size(): number {
    return this.#waiting.size;
  }
}

const queueCommand = fc.oneof(
  addArbitrary,
  fc.record({ do: fc.constant('take' as const) }),
  fc.record({ do: fc.constant('done' as const), key: keyArbitrary }),
  fc.record({ do: fc.constant('advance' as const), ms: fc.nat(10) }),
);
type QueueCommand = typeof queueCommand extends fc.Arbitrary<infer T> ? T : never;

async function runBoth(
  command: QueueCommand,
  { queue, model, clock }: { queue: WorkQueue; model: QueueModel; clock: FakeClock },
): Promise<void> {
  switch (command.do) {
    case 'add':
      queue.add(command.key, { afterMs: command.afterMs, priority: command.priority });
      return model.add(command.key, clock.monotonic(), command.afterMs, command.priority);
    case 'take':
      return expect(queue.take()).toBe(model.take(clock.monotonic()));
    case 'done':
      if (model.running.delete(command.key)) queue.done(command.key);
      return;
    case 'advance':
      return clock.advance(command.ms);
  }
}

const heapCommand = fc.record({
  do: fc.constantFrom('push', 'remove', 'update'),
  rank: fc.nat(999),
  at: fc.nat(99),
});

describe('Heap', () => {
  it('gives items back in order whatever was moved or taken out of its middle before', () => {
    const ranksArbitrary = fc.array(fc.nat(999), { minLength: 20, maxLength: 60 });
    fc.assert(
      fc.property(ranksArbitrary, fc.array(heapCommand, { maxLength: 30 }), (ranks, commands) => {
        const heap = new Heap<{ rank: number; slot: number }>((a, b) => a.rank < b.rank);
        const items = ranks.map((rank) => ({ rank, slot: -1 }));
        for (const item of items) heap.push(item);
        for (const { do: action, rank, at } of commands) {
          const index = action === 'push' ? items.push({ rank, slot: -1 }) - 1 : at % items.length;
          for (const item of items.slice(index, index + 1)) {
            if (action === 'push') heap.push(item);
            if (action === 'update') item.rank = rank;
            if (action === 'update') heap.update(item);
            if (action === 'remove') heap.remove(item);
          }
          if (action === 'remove') items.splice(index, 1);
        }
        const drained: number[] = [];
        for (let item = heap.pop(); item !== undefined; item = heap.pop()) drained.push(item.rank);
        expect(drained).toEqual(items.map((item) => item.rank).sort((a, b) => a - b));
      }),
      { numRuns: 300 },
    );
  });
});

describe('WorkQueue', () => {
  it('hands out what a plain list would, in its order', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(queueCommand, { maxLength: 60 }), async (commands) => {
        const clock = new FakeClock({ settleTurns: 1 });
        const both = { queue: new WorkQueue(clock), model: new QueueModel(), clock };
        for (const command of commands) {
          await runBoth(command, both);
          const due = both.model.due(clock.monotonic());
          expect(both.queue.size).toBe(both.model.size);
          expect(both.queue.gauge().depth).toBe(due.length);
          expect(both.queue.isIdle).toBe(due.length === 0 && both.model.running.size === 0);
        }
      }),
      { numRuns: 300 },
    );
  });

  it('rings for every key that becomes due after the queue was drained', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(addArbitrary, fc.nat(10)), { maxLength: 40 }), async (adds) => {
        const clock = new FakeClock({ settleTurns: 1 });
        const queue = new WorkQueue(clock);
        const drained: string[] = [];
        const drain = (): void => {
          for (let key = queue.take(); key !== undefined; key = queue.take()) {
            drained.push(key);
            queue.done(key);
          }
        };
        queue.onReady(() => queueMicrotask(drain));
        for (const [add, waitMs] of adds) {
          queue.add(add.key, add);
          await clock.advance(waitMs);
          expect(queue.gauge().depth).toBe(0);
        }
        await clock.advance(20);
        expect(queue.size).toBe(0);
        expect(clock.pending).toBe(0);
      }),
    );
  });
});

/** A reconciler whose rounds take random times, or none, and that watches for overlap. */
class Watched implements Reconciler<string, never> {
  readonly name = 'watched';
  readonly startsByKey = new Map<string, number>();
  readonly running = new Set<string>();
  mostAtOnce = 0;
  readonly #clock: FakeClock;
  readonly #durationsMs: number[];

  constructor(clock: FakeClock, durationsMs: readonly number[]) {
    this.#clock = clock;
    this.#durationsMs = [...durationsMs];
  }

  observe(key: string, signal: AbortSignal): MaybePromise<string | undefined> {
    if (this.running.has(key)) throw new Error(`two rounds of ${key} at once`);
    this.startsByKey.set(key, (this.startsByKey.get(key) ?? 0) + 1);
    const durationMs = this.#durationsMs.shift() ?? 0;
    if (durationMs === 0) return key;
    this.running.add(key);
    this.mostAtOnce = Math.max(this.mostAtOnce, this.running.size);
    return this.#work(key, durationMs, signal);
  }

  plan(): { steps: readonly never[] } {
    return { steps: [] };
  }

  perform(): void {
    throw new Error('there is nothing to perform');
  }

  async #work(key: string, durationMs: number, signal: AbortSignal): Promise<string> {
    await new Promise<void>((resolve) => {
      const timer = this.#clock.setTimer(durationMs, resolve);
      signal.addEventListener('abort', () => {
        timer.cancel();
        resolve();
      });
    });
    this.running.delete(key);
    return key;
  }
}

const requestArbitrary = fc.record({
  key: keyArbitrary,
  spec: fc.boolean(),
  afterMs: fc.constantFrom(0, 0, 3, 15),
  waitMs: fc.nat(6),
});

function buildWatched(durationsMs: readonly number[], concurrency: number) {
  const clock = new FakeClock();
  const reconciler = new Watched(clock, durationsMs);
  const failures: unknown[] = [];
  const onError = (_key: string, error: unknown): void => void failures.push(error);
  const controller = new Controller({
    reconciler,
    clock,
    concurrency,
    random: () => 0.5,
    trace: () => {},
    onError,
  });
  return { clock, reconciler, controller, failures };
}

const durationsArbitrary = fc.array(fc.nat(12), { maxLength: 60 });
const requestsArbitrary = fc.array(requestArbitrary, { maxLength: 40 });

describe('Controller', () => {
  it('never runs a key twice at once, keeps to its concurrency, and loses no request', async () => {
    await fc.assert(
      fc.asyncProperty(
        requestsArbitrary,
        durationsArbitrary,
        fc.integer({ min: 1, max: 3 }),
        async (...input) => {
          const [requests, durationsMs, concurrency] = input;
          const { clock, reconciler, controller, failures } = buildWatched(durationsMs, concurrency);
          controller.start();
          const startsAtRequest = new Map<string, number>();
          for (const { key, spec, afterMs, waitMs } of requests) {
            startsAtRequest.set(key, reconciler.startsByKey.get(key) ?? 0);
            if (spec) controller.specChanged(key);
            else controller.enqueue(key, { afterMs });
            await clock.advance(waitMs);
          }
          await clock.advance(2000);
          await controller.whenIdle();
          for (const [key, starts] of startsAtRequest) {
            expect(reconciler.startsByKey.get(key)).toBeGreaterThan(starts);
          }
          expect(failures).toEqual([]);
          expect(reconciler.mostAtOnce).toBeLessThanOrEqual(concurrency);
          await controller.stop();
        },
      ),
      { numRuns: 100 },
    );
  });

  it('leaves nothing running and no timer when it stops at any moment', async () => {
    await fc.assert(
      fc.asyncProperty(requestsArbitrary, durationsArbitrary, async (requests, durationsMs) => {
        const { clock, reconciler, controller } = buildWatched(durationsMs, 2);
        controller.start();
        for (const { key, afterMs, waitMs } of requests) {
          controller.enqueue(key, { afterMs });
          await clock.advance(waitMs);
        }
        await controller.stop();
        expect(reconciler.running.size).toBe(0);
        expect(clock.pending).toBe(0);
        const starts = [...reconciler.startsByKey];
        await clock.advance(1000);
        expect([...reconciler.startsByKey]).toEqual(starts);
      }),
      { numRuns: 100 },
    );
  });

  it('brings a world to what is wanted although steps fail and conflict, in a bounded number of rounds', async () => {
    await fc.assert(
      fc.asyncProperty(worldArbitrary, async ({ wanted, wantedLater, luck }) => {
        const world = new World(luck);
        const clock = new FakeClock();
        let rounds = 0;
        const controller = new Controller({
          reconciler: world,
          clock,
          random: () => 0.5,
          trace: (event) => {
            if (event.kind === 'round') rounds++;
          },
        });
        controller.start();
        const want = (key: string, count: number): void => {
          world.wanted.set(key, count);
          controller.specChanged(key);
        };
        for (const [key, count] of Object.entries(wanted)) want(key, count);
        await clock.advance(60);
        for (const [key, count] of Object.entries(wantedLater)) want(key, count);
        await clock.advance(3_600_000);
        expect(controller.gauge().depth).toBe(0);
        for (const [key, count] of world.wanted) expect(world.actual.get(key) ?? 0).toBe(count);
        expect(rounds).toBeLessThanOrEqual(world.performed + world.mishaps + 2 * MOST_KEYS);
        const roundsWhenSettled = rounds;
        for (const key of world.wanted.keys()) controller.enqueue(key);
        await clock.settle();
        expect(rounds - roundsWhenSettled).toBe(world.wanted.size);
        await controller.stop();
        expect(clock.pending).toBe(0);
      }),
      { numRuns: 100 },
    );
  });
});

type Luck = 'done' | 'done later' | 'failed' | 'failed later' | 'failed after the effect' | 'conflict';
const MOST_KEYS = 10;

const countsArbitrary = fc.dictionary(keyArbitrary, fc.nat(6));
const worldArbitrary = fc.record({
  wanted: countsArbitrary,
  wantedLater: countsArbitrary,
  luck: fc.array(
    fc.constantFrom<Luck>(
      'done',
      'done later',
      'failed',
      'failed later',
      'failed after the effect',
      'conflict',
    ),
    { maxLength: 40 },
  ),
});

interface Counts {
  readonly key: string;
  readonly wanted: number;
  readonly actual: number;
}
type Change = { readonly do: 'add' | 'remove'; readonly key: string; readonly from: number };

/** A number per key that steps raise or lower by one, with bad luck in the order given and good luck after it. */
class World implements Reconciler<Counts, Change> {
  readonly name = 'world';
  readonly wanted = new Map<string, number>();
  readonly actual = new Map<string, number>();
  performed = 0;
  mishaps = 0;
  readonly #luck: Luck[];

  constructor(luck: readonly Luck[]) {
    this.#luck = [...luck];
  }

  observe(key: string): Counts {
    return { key, wanted: this.wanted.get(key) ?? 0, actual: this.actual.get(key) ?? 0 };
  }

  plan({ key, wanted, actual }: Counts): { steps: readonly Change[] } {
    if (wanted === actual) return { steps: [] };
    return { steps: [{ do: wanted > actual ? 'add' : 'remove', key, from: actual }] };
  }

  perform(step: Change): MaybePromise<void> {
    const luck = this.#luck.shift() ?? 'done';
    if (luck.startsWith('failed') || luck === 'conflict') this.mishaps++;
    if (luck === 'failed') throw new Error('bad luck');
    if (luck === 'conflict') throw new Conflict('bad luck');
    if (luck === 'done') return this.#apply(step);
    return this.#applyLater(step, luck);
  }

  async #applyLater(step: Change, luck: Luck): Promise<void> {
    await Promise.resolve();
    if (luck === 'failed later') throw new Error('bad luck');
    this.#apply(step);
    if (luck === 'failed after the effect') throw new Error('bad luck');
  }

  #apply({ do: direction, key, from }: Change): void {
    if ((this.actual.get(key) ?? 0) !== from) throw new Conflict(`${key} is not ${from} any more`);
    this.actual.set(key, direction === 'add' ? from + 1 : from - 1);
    this.performed++;
  }
}
