/** `GET /usage`: the sum over nodes, the parts that are missing, the marks, and what a restricted key sees. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { recordOf } from '../../../controllers/master/events/plan.js';
import { DroverError } from '../../../src/model/errors.js';
import type { UsageQuestion, UsageSeries } from '../../../src/model/run/usage-series.js';
import { eventKey } from '../../../src/store/keys.js';
import { ApiWorld } from '../../support/api/api-world.js';

const MINUTE = 60_000;

let world: ApiWorld;
let asked: [string, UsageQuestion][];

beforeEach(async () => {
  world = await new ApiWorld().start();
  await world.server.start();
  asked = [];
  for (const nodeId of ['n1', 'n2', 'n3']) await world.addNode(nodeId);
  await world.addConfiguration('lobby');
  await world.addConfiguration('secret');
  world.usageOver = async (nodeId, question) => {
    asked.push([nodeId, question]);
    if (nodeId === 'n3') throw new DroverError('DRV_NODE_DISCONNECTED', 'node n3 is not connected');
    return [series(question.points, nodeId === 'n1' ? 10 : 5)];
  };
});
afterEach(() => world.stop());

/** A series whose last two steps are known. */
function series(points: number, value: number): UsageSeries {
  const known = [...new Array<null>(points - 2).fill(null), value, value];
  const [players, restarts] = [known.map(() => null), known.map(() => null)];
  return { instance: null, configuration: null, cpuPercent: known, memoryBytes: known, players, restarts };
}

async function usage(query: string, token = world.admin): Promise<unknown> {
  const answer = await world.call('GET', `/usage${query}`, undefined, token);
  return answer.json();
}

it('adds what the nodes kept, names those that do not answer, and marks deploys', async () => {
  const event = recordOf(
    { kind: 'changed', configuration: 'lobby', detail: 'ramMB', by: 'boss' },
    world.clock.now(),
  );
  await world.events.until(
    await world.store.transact([{ do: 'put', key: eventKey('000000000001'), value: event }]),
  );
  const now = Math.floor(world.clock.now() / MINUTE) * MINUTE;
  expect(await usage('?range=6h')).toEqual({
    everyMs: MINUTE,
    at: Array.from({ length: 360 }, (_, place) => now - (359 - place) * MINUTE),
    series: [series(360, 15)],
    marks: [{ at: event.at, text: expect.stringContaining('lobby changed') }],
    missing: [{ nodeId: 'n3', why: 'node n3 is not connected' }],
  });
  await usage('?range=1d&node=n2');
  expect(asked.at(-1)).toEqual(['n2', { by: 'all', everyMs: 4 * MINUTE, points: 360 }]);
  await usage('?range=1d&by=instance&configuration=lobby');
  const grouped = { by: 'instance', everyMs: 60 * MINUTE, points: 24, configurations: ['lobby'] };
  expect(asked.at(-1)?.[1]).toEqual(grouped);
});

it('sums for a restricted key what it sees, and knows nothing of the rest', async () => {
  const token = await world.addKey('lobby', 'READ', { configurations: ['lobby'] });
  await usage('', token);
  expect(asked[0]?.[1].configurations).toEqual(['lobby']);
  expect(await usage('?configuration=secret', token)).toMatchObject({ code: 'DRV_CONFIGURATION_UNKNOWN' });
  expect(await usage('?range=90s3', token)).toMatchObject({ error: expect.stringContaining('range') });
});
