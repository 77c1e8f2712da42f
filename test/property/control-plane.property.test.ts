/**
 * The whole control plane under random operations and faults on a virtual clock: what must never happen does not, and
 * when the faults are over the world becomes what is desired, and rests. `DROVER_PROPERTY_RUNS` and
 * `DROVER_PROPERTY_SEED` make longer or repeated runs.
 */
import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import type { WorldOperation } from '../support/control-plane-operations.js';
import { ControlPlaneWorld } from '../support/control-plane-world.js';

const RUNS = Number(process.env.DROVER_PROPERTY_RUNS ?? 120);
const SEED = process.env.DROVER_PROPERTY_SEED;

const ids = vi.hoisted(() => ({ next: 0 }));

// Ids in order, so that a seed gives the same run again.
vi.mock('../../src/model/names.js', async (original) => ({
  ...(await original<typeof import('../../src/model/names.js')>()),
  randomInstanceId: () => `i${String(ids.next++).padStart(5, '0')}`,
}));

// The metrics of the process itself are never released, and each of hundreds of wrappers would collect them.
vi.mock('prom-client', async (original) => ({
  ...(await original<typeof import('prom-client')>()),
  collectDefaultMetrics: () => undefined,
}));

const name = fc.constantFrom('lobby', 'game', 'proxy');
const pick = fc.nat(5);
const target = fc.constantFrom('start' as const, 'stop' as const, 'restart' as const);
const node = fc.nat(2);
const port = fc.integer({ min: 30000, max: 30003 });
const shape = fc.record({
  minimum: fc.nat(3),
  maximum: fc.option(fc.nat(4), { nil: undefined, freq: 3 }),
  ports: fc.option(fc.constantFrom({ min: 30000, max: 30003 }, { min: 30002, max: 30009 }), {
    nil: undefined,
  }),
  ramMB: fc.constantFrom(100, 300),
  static: fc.boolean(),
});

const operation: fc.Arbitrary<WorldOperation> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant('put' as const), name, shape }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('drop' as const), name }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('create' as const), name }) },
  {
    weight: 10,
    arbitrary: fc.record({
      do: fc.constantFrom('start', 'stop', 'restart', 'delete', 'toggle-stubborn'),
      pick,
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('quickly' as const),
      pick,
      targets: fc.array(target, { minLength: 2, maxLength: 4 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('put-state' as const),
      pick,
      state: fc.constantFrom('CREATING', 'ONLINE', 'OFFLINE', 'STOPPED'),
    }),
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('crash' as const), pick, code: fc.nat(120) }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constantFrom('hold-port', 'free-port'), node, port }) },
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constantFrom(
        'break-starts',
        'mend-starts',
        'hide-runtime',
        'show-runtime',
        'replace-wrapper',
        'silence',
        'heal',
        'reset',
      ),
      node,
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constantFrom('replace-master', 'join', 'fill-disk', 'empty-disk') }),
  },
);

/** How long the world is left to itself after an operation; null: not even a turn of the event loop. */
const pause = fc.constantFrom(null, null, 0, 0, 1, 4, 60, 700, 3000, 12_000, 70_000);
const speed = fc.record({
  storeMs: fc.constantFrom(0, 0, 3),
  installMs: fc.constantFrom(0, 7),
  startMs: fc.constantFrom(0, 5),
});

describe('the control plane', () => {
  it(
    'never breaks an invariant whatever happens, and becomes what is desired when the faults are over',
    async () => {
      let created = 0;
      const script = fc.array(fc.tuple(operation, pause), { minLength: 5, maxLength: 40 });
      await fc.assert(
        fc.asyncProperty(speed, script, async (atSpeed, steps) => {
          ids.next = 0;
          const world = new ControlPlaneWorld(atSpeed);
          await world.start();
          try {
            for (const [step, pauseMs] of steps) {
              await world.perform(step);
              if (pauseMs !== null) await world.clock.advance(pauseMs);
              world.check();
            }
            await world.calm();
          } catch (error) {
            throw new Error(`${String(error)}\n${world.describe()}`, { cause: error });
          } finally {
            created += ids.next;
            await world.stop();
          }
        }),
        { numRuns: RUNS, ...(SEED !== undefined && { seed: Number(SEED) }) },
      );
      expect(created).toBeGreaterThan(RUNS);
    },
    Math.max(60_000, RUNS * 1000),
  );
});
