import { afterEach, describe, expect, it, vi } from 'vitest';
import { Controller, type ControllerOptions } from '../../../src/loop/controller.js';
import type { MaybePromise } from '../../../src/loop/maybe-promise.js';
import { Conflict, type Plan, type Reconciler } from '../../../src/loop/reconciler.js';
import type { TraceEvent } from '../../../src/loop/trace.js';
import { DroverError } from '../../../src/model/errors.js';
import { FakeClock } from '../../support/fake-clock.js';

type Round = Extract<TraceEvent, { kind: 'round' }>;

const SETTLED: Plan<string> = { steps: [] };

/** A reconciler made of what a test cares for; facts are the key itself. */
function reconcilerOf(parts: {
  observe?: (key: string, signal: AbortSignal) => MaybePromise<string | undefined>;
  plan?: (key: string, now: number) => Plan<string>;
  perform?: (step: string, signal: AbortSignal) => MaybePromise<void>;
}): Reconciler<string, string> {
  return {
    name: 'test',
    observe: parts.observe ?? ((key) => key),
    plan: parts.plan ?? (() => SETTLED),
    perform: parts.perform ?? (() => {}),
  };
}

/** Throws when there is something to throw: one step of a script of failures. */
function throwNext(script: Error[]): void {
  const error = script.shift();
  if (error !== undefined) throw error;
}

/** Something for a round to wait at until the test lets it go on. */
function makeGate(): { readonly opened: Promise<void>; open(): void } {
  const controller = new AbortController();
  const opened = new Promise<void>((resolve) => {
    controller.signal.addEventListener('abort', () => resolve());
  });
  return { opened, open: () => controller.abort() };
}

describe('Controller', () => {
  const started: Controller<string, string>[] = [];
  afterEach(async () => {
    await Promise.all(started.splice(0).map((controller) => controller.stop()));
  });

  function start(
    reconciler: Reconciler<string, string>,
    options: Partial<ControllerOptions<string, string>> = {},
  ) {
    const clock = new FakeClock();
    const events: TraceEvent[] = [];
    const trace = (event: TraceEvent): void => void events.push(event);
    const controller = new Controller({ reconciler, clock, random: () => 1, trace, ...options });
    started.push(controller);
    controller.start();
    const rounds = (): Round[] => events.filter((event) => event.kind === 'round');
    const outcomes = (): string[] => rounds().map((round) => round.outcome);
    return { clock, controller, events, rounds, outcomes };
  }

  describe('outcomes', () => {
    it('observes again after steps, until the plan is empty', async () => {
      const todo = ['one', 'two'];
      const { controller, outcomes, events } = start(
        reconcilerOf({ plan: () => ({ steps: todo.slice(0, 1) }), perform: () => void todo.shift() }),
      );
      controller.enqueue('a');
      await controller.whenIdle();
      expect(outcomes()).toEqual(['changed', 'changed', 'settled']);
      expect(events.filter((event) => event.kind === 'step')).toEqual([
        { kind: 'step', controller: 'test', key: 'a', step: 'one' },
        { kind: 'step', controller: 'test', key: 'a', step: 'two' },
      ]);
    });

    it('ends gone when nothing is observed, and does not come back', async () => {
      const { controller, clock, outcomes } = start(reconcilerOf({ observe: () => undefined }));
      controller.enqueue('a');
      await clock.advance(600_000);
      expect(outcomes()).toEqual(['gone']);
    });

    it('looks again after recheckInMs, also when it is 0 or no number', async () => {
      const rechecks = [30, 0, Number.NaN, undefined];
      const times: number[] = [];
      const plan = (_key: string, now: number): Plan<string> => {
        times.push(now);
        const recheckInMs = rechecks.shift();
        return recheckInMs === undefined ? SETTLED : { steps: [], recheckInMs };
      };
      const { controller, clock } = start(reconcilerOf({ plan }));
      controller.enqueue('a');
      await clock.advance(1000);
      expect(times).toEqual([0, 30, 31, 32]);
    });

    it('performs steps in order and ends the round at the first that throws', async () => {
      const performed: string[] = [];
      const perform = async (step: string): Promise<void> => {
        performed.push(step);
        if (step === 'two') throw new Error('no');
      };
      const { controller, clock, events } = start(
        reconcilerOf({ plan: () => ({ steps: ['one', 'two', 'three'] }), perform }),
      );
      controller.enqueue('a');
      await clock.settle();
      expect(performed).toEqual(['one', 'two']);
      expect(events.map((event) => (event.kind === 'step' ? event.step : event.outcome))).toEqual([
        'one',
        'failed',
      ]);
    });

    it.each([
      ['a Conflict', new Conflict('moved on')],
      ['a conflict of the store', new DroverError('DRV_STORE_CONFLICT', 'instances/abc123 changed')],
    ])('tries again after 20 ms on %s, which is no error', async (_name, conflict) => {
      const script: Error[] = [conflict, conflict];
      const onError = vi.fn();
      const observe = (key: string): string => {
        throwNext(script);
        return key;
      };
      const { controller, clock, outcomes, rounds } = start(reconcilerOf({ observe }), { onError });
      controller.enqueue('a');
      await clock.advance(20);
      expect(outcomes()).toEqual(['conflict', 'conflict']);
      await clock.advance(20);
      expect(outcomes()).toEqual(['conflict', 'conflict', 'settled']);
      expect(rounds().map((round) => round.retryInMs)).toEqual([20, 20, undefined]);
      expect(onError).not.toHaveBeenCalled();
    });

    it.each(['observe', 'plan', 'perform'] as const)(
      'backs off when %s throws and starts anew after a success',
      async (where) => {
        const broken = new Error('broken');
        const script = [broken, broken, broken];
        const steps = ['step'];
        const sound = { plan: () => ({ steps: [...steps] }), perform: () => void steps.shift() };
        const failing = {
          observe: (key: string) => {
            throwNext(script);
            return key;
          },
          plan: () => {
            throwNext(script);
            return sound.plan();
          },
          perform: () => {
            throwNext(script);
            sound.perform();
          },
        };
        const onError = vi.fn();
        const { controller, clock } = start(reconcilerOf({ ...sound, [where]: failing[where] }), { onError });
        controller.enqueue('a');
        await clock.advance(60_000);
        expect(onError.mock.calls).toEqual([
          ['a', broken, 50],
          ['a', broken, 100],
          ['a', broken, 200],
        ]);
        expect(steps).toEqual([]);
      },
    );

    it('forgets failures once the key has settled', async () => {
      const script: Error[] = [new Error('1'), new Error('2')];
      const { controller, clock, rounds } = start(
        reconcilerOf({
          observe: async (key) => {
            throwNext(script);
            return key;
          },
        }),
      );
      controller.enqueue('a');
      await clock.advance(1000);
      script.push(new Error('3'));
      controller.enqueue('a');
      await clock.advance(1000);
      const retries = rounds().map((round) => [round.outcome, round.retryInMs]);
      expect(retries).toEqual([
        ['failed', 50],
        ['failed', 100],
        ['settled', undefined],
        ['failed', 50],
        ['settled', undefined],
      ]);
    });

    it('tries a failing key at once and with a short delay again when its spec changes', async () => {
      const failing = true;
      const { controller, clock, rounds } = start(
        reconcilerOf({
          observe: () => {
            if (failing) throw new Error('broken');
            return undefined;
          },
        }),
      );
      controller.enqueue('a');
      await clock.advance(50 + 100 + 200 + 1);
      expect(rounds().map((round) => round.retryInMs)).toEqual([50, 100, 200, 400]);
      controller.specChanged('a');
      await clock.settle();
      expect(rounds().at(-1)?.retryInMs).toBe(50);
    });

    it('treats a plan that never settles as failed, with growing pauses and a clear error', async () => {
      const { controller, clock, outcomes, rounds } = start(reconcilerOf({ plan: () => ({ steps: ['x'] }) }));
      controller.enqueue('a');
      await clock.settle();
      expect(outcomes().filter((outcome) => outcome === 'changed')).toHaveLength(100);
      expect(rounds().at(-1)).toMatchObject({ outcome: 'failed', retryInMs: 50 });
      expect(String(rounds().at(-1)?.error)).toContain(
        'test: the plan for a still had steps after 100 rounds',
      );
      await clock.advance(50 + 100);
      expect(outcomes().slice(100)).toEqual(['failed', 'failed', 'failed']);
      controller.enqueue('a');
      await clock.settle();
      expect(outcomes().slice(103, 105)).toEqual(['changed', 'changed']);
    });
  });

  describe('order and concurrency', () => {
    it('runs nothing inside enqueue, and nothing before start', async () => {
      const observe = vi.fn((key: string) => key);
      const clock = new FakeClock();
      const reconciler = reconcilerOf({ observe });
      const controller = new Controller({ reconciler, clock, random: () => 1, trace: () => {} });
      started.push(controller);
      controller.enqueue('a');
      await clock.settle();
      expect(observe).not.toHaveBeenCalled();
      controller.start();
      controller.enqueue('b');
      expect(observe).not.toHaveBeenCalled();
      await controller.whenIdle();
      expect(observe).toHaveBeenCalledTimes(2);
    });

    it('observes, plans and begins to perform without letting anything else run', async () => {
      const taken = new Set<number>();
      const chosen: number[] = [];
      const reconciler: Reconciler<number, number> = {
        name: 'ports',
        observe: () => [1, 2, 3, 4, 5, 6, 7, 8].find((port) => !taken.has(port)),
        plan: (port) => ({ steps: chosen.length < 8 ? [port] : [] }),
        perform: async (port) => {
          taken.add(port);
          chosen.push(port);
          await Promise.resolve();
        },
      };
      const controller = new Controller({
        reconciler,
        clock: new FakeClock(),
        random: () => 1,
        trace: () => {},
      });
      controller.start();
      for (const key of 'abcdefgh') controller.enqueue(key);
      await controller.whenIdle();
      await controller.stop();
      expect(chosen).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
    });

    it('lets no more rounds wait at once than its concurrency, and takes up the next when one ends', async () => {
      const waiting = new Map<string, () => void>();
      const observe = (key: string): Promise<string> =>
        new Promise((resolve) => {
          waiting.set(key, () => {
            waiting.delete(key);
            resolve(key);
          });
        });
      const { controller, clock, outcomes } = start(reconcilerOf({ observe }), { concurrency: 2 });
      for (const key of 'abcd') controller.enqueue(key);
      await clock.settle();
      expect([...waiting.keys()]).toEqual(['a', 'b']);
      expect(controller.gauge().depth).toBe(2);
      waiting.get('b')?.();
      await clock.settle();
      expect([...waiting.keys()]).toEqual(['a', 'c']);
      while (waiting.size > 0) {
        for (const resume of [...waiting.values()]) resume();
        await clock.settle();
      }
      expect(outcomes()).toEqual(['settled', 'settled', 'settled', 'settled']);
    });

    it('gives the event loop its turn while thousands of keys are due', async () => {
      let turns = 0;
      let isCounting = true;
      const count = (): void => {
        turns++;
        if (isCounting) setImmediate(count);
      };
      const { controller, rounds } = start(reconcilerOf({}));
      for (let key = 0; key < 10_000; key++) controller.enqueue(`key ${key}`);
      setImmediate(count);
      await controller.whenIdle();
      isCounting = false;
      expect(rounds()).toHaveLength(10_000);
      expect(turns).toBeGreaterThanOrEqual(45);
    });

    it('runs a key once more when it is enqueued during its round', async () => {
      const gate = makeGate();
      const { controller, clock, outcomes } = start(
        reconcilerOf({ observe: (key) => gate.opened.then(() => key) }),
      );
      controller.enqueue('a');
      await clock.settle();
      controller.enqueue('a');
      controller.enqueue('a');
      gate.open();
      await controller.whenIdle();
      expect(outcomes()).toEqual(['settled', 'settled']);
    });

    it('measures a round by the monotonic clock', async () => {
      const clock = new FakeClock();
      const observe = (key: string): Promise<string> =>
        new Promise((resolve) => clock.setTimer(70, () => resolve(key)));
      const { controller, rounds } = start(reconcilerOf({ observe }), { clock });
      controller.enqueue('a');
      await clock.settle();
      clock.jumpWallClock(3_600_000);
      await clock.advance(70);
      expect(rounds().map((round) => round.durationMs)).toEqual([70]);
    });
  });

  describe('resync', () => {
    it('looks at every key once per period, spread, at low priority', async () => {
      const keys = Array.from({ length: 1000 }, (_, index) => `key ${index}`);
      const { controller, clock, rounds } = start(reconcilerOf({}), { resync: { keys: () => keys } });
      let most = 0;
      let before = 0;
      for (let second = 0; second < 300; second++) {
        await clock.advance(1000);
        most = Math.max(most, rounds().length - before);
        before = rounds().length;
      }
      expect(new Set(rounds().map((round) => round.key)).size).toBe(1000);
      expect(rounds()).toHaveLength(1000);
      expect(most).toBeLessThanOrEqual(8);
      await controller.stop();
      expect(clock.pending).toBe(0);
    });

    it('reads the keys anew each period, and goes on when there were none', async () => {
      const keys: string[] = [];
      const { clock, rounds } = start(reconcilerOf({}), { resync: { everyMs: 1000, keys: () => keys } });
      await clock.advance(500);
      keys.push('new');
      await clock.advance(1500);
      expect(rounds().map((round) => round.key)).toEqual(['new']);
    });
  });

  describe('stop', () => {
    it('aborts the running round, waits for it, and takes up nothing more', async () => {
      const performed: string[] = [];
      const perform = (step: string, signal: AbortSignal): Promise<void> =>
        new Promise((resolve) => {
          performed.push(step);
          signal.addEventListener('abort', () => setImmediate(resolve));
        });
      const { controller, clock, outcomes } = start(
        reconcilerOf({ plan: () => ({ steps: ['one', 'two'] }), perform }),
        { concurrency: 1, resync: { keys: () => ['a'] } },
      );
      controller.enqueue('a');
      controller.enqueue('b');
      controller.enqueue('later', { afterMs: 10 });
      await clock.settle();
      await controller.stop();
      expect(outcomes()).toEqual(['aborted']);
      controller.enqueue('c');
      controller.specChanged('d');
      await clock.advance(600_000);
      expect(performed).toEqual(['one']);
      expect(clock.pending).toBe(0);
      await controller.stop();
      await controller.whenIdle();
    });

    it('counts what the abort makes a round throw as aborted, not as an error', async () => {
      const onError = vi.fn();
      const observe = (_key: string, signal: AbortSignal): Promise<string> =>
        new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason));
        });
      const { controller, clock, outcomes } = start(reconcilerOf({ observe }), { onError });
      controller.enqueue('a');
      await clock.settle();
      await controller.stop();
      expect(outcomes()).toEqual(['aborted']);
      expect(onError).not.toHaveBeenCalled();
    });

    it('ends the waiting of whenIdle', async () => {
      const clock = new FakeClock();
      const controller = new Controller({
        reconciler: reconcilerOf({}),
        clock,
        random: () => 1,
        trace: () => {},
      });
      controller.enqueue('a');
      const idle = controller.whenIdle();
      await controller.stop();
      await idle;
      controller.start();
      await clock.settle();
      expect(controller.gauge()).toEqual({ depth: 0, longestWaitMs: 0 });
    });
  });
});
