/**
 * Fleets under random operations and faults. The forbidden never happens, and after the faults each fleet reaches
 * its desired state and rests. `npm run simulate` runs any number of seeds; a failing one is printed with the
 * command that repeats it.
 */
import { describe, expect, it } from 'vitest';
import type { Message } from '../../src/channel/protocol/messages.js';
import { reportOf } from './report.js';
import { newSharedMetrics, type Outcome, type SimulationOptions, simulate } from './simulate.js';

const SEEDS = Number(process.env.DROVER_SIMULATION_SEEDS ?? 20);
const SMALL = { nodes: 4, operations: 14 };
const metrics = newSharedMetrics();

/** Messages that carry state; calls are asked again by whoever needs the answer. */
const KINDS: readonly Message['type'][] = [
  'hello',
  'welcome',
  'refused',
  'snapshot',
  'delta',
  'status',
  'status-acknowledged',
  'offer',
  'beat',
  'bye',
];

/** Fails with the report of the first seed that does. */
async function holds(options: Omit<SimulationOptions, 'metrics'>): Promise<void> {
  const outcome = await simulate({ ...options, metrics });
  if (outcome.violation === undefined) return;
  expect.fail(await reportOf({ ...options, metrics }, outcome));
}

describe('a simulated fleet', { timeout: 120_000 + SEEDS * 1000 }, () => {
  it('breaks no promise whatever happens, and becomes what is desired when the faults are over', async () => {
    for (let seed = 0; seed < SEEDS; seed++) await holds({ seed: String(seed) });
  });

  it('holds with 200 nodes', async () => {
    await holds({ seed: 'many', size: { nodes: 200, operations: 10 } });
  });

  it('does the same again for the same seed', async () => {
    const options = { seed: 'twice', metrics, size: SMALL, isTraced: true };
    const first = await simulate(options);
    const second = await simulate(options);
    expect(first.trace.length).toBeGreaterThan(100);
    expect(second.trace).toEqual(first.trace);
    // As a worker of `npm run simulate` begins: in a callback of the event loop.
    const inCallback = new Promise<Outcome>((resolve) => setImmediate(() => resolve(simulate(options))));
    expect((await inCallback).trace).toEqual(first.trace);
  });

  it('takes another course for another seed', async () => {
    const outcomes = await Promise.all(
      ['one', 'two'].map((seed) => simulate({ seed, metrics, size: SMALL, isTraced: true })),
    );
    expect(outcomes[0]?.trace).not.toEqual(outcomes[1]?.trace);
  });

  it.each(KINDS)('holds when messages of the kind %s are lost with their connection', async (kind) => {
    for (const seed of ['a', 'b'])
      await holds({ seed: `${kind} ${seed}`, size: SMALL, disorder: { lose: { kind, probability: 0.3 } } });
  });

  it('holds when messages come twice', async () => {
    for (const seed of ['a', 'b', 'c', 'd'])
      await holds({ seed: `twice ${seed}`, size: SMALL, disorder: { repeat: 0.3 } });
  });

  it('holds when messages overtake each other', async () => {
    for (const seed of ['a', 'b', 'c', 'd'])
      await holds({ seed: `late ${seed}`, size: SMALL, disorder: { reorder: 0.3 } });
  });
});
