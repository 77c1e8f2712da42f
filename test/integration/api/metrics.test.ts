/** `/metrics`: what it says to whom, and how often it counts anew. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { nodeRecordSchema } from '../../../src/model/node.js';
import { NO_COUNTS } from '../../../src/model/rollout.js';
import { addNodeGauges } from '../../../src/telemetry/gauges.js';
import { usageLabels } from '../../../src/telemetry/usage-exposition.js';
import { ApiWorld, instanceRecord } from '../../support/api/api-world.js';

const NAMES = ['secret-game', 'secret-node', 'aaaaaa'];
const TYPE = 'text/plain; version=0.0.4; charset=utf-8';

let world: ApiWorld;
let counted: number;

async function start(fields: { metricsNeedKey?: boolean } = {}): Promise<void> {
  world = await new ApiWorld({ configuration: fields }).start();
  await world.putInstance(instanceRecord({ id: 'aaaaaa', createdAt: 1000 }));
  counted = 0;
  const configuration = 'secret-game';
  const record = nodeRecordSchema.parse({
    nodeId: 'secret-node',
    address: '10.0.0.9',
    master: true,
    capacity: { maxRamMB: 1, maxCpu: 1 },
    runtimes: [{ key: 'process', available: true, version: '1', reason: null }],
    cordoned: false,
    condition: 'connected',
    conditionSince: 0,
    version: '1',
  });
  world.metrics.addSources({
    instances: () => [{ configuration, state: 'ONLINE', count: 1 }],
    minimums: () => [{ configuration, minimum: 1 }],
    actualOf: () => 1,
    health: () => [{ name: configuration, health: { state: 'failing' } }],
    rollouts: () => [{ name: configuration, state: 'failed', counts: NO_COUNTS }],
    timetables: () => [],
    configurationFileErrors: () => ++counted,
    unreadableRecords: () => new Map(),
    usages: () => [
      {
        labels: usageLabels('aaaaaa', configuration, 'secret-node'),
        used: { cpuSeconds: 1, memoryBytes: 2, processes: 3 },
      },
    ],
  });
  addNodeGauges(world.metrics.namingRegistry, () => [
    { record, use: { ramMB: 1, cpu: 1, instances: 1 }, beatAgeMs: 5 },
  ]);
  world.metrics.restarts.inc({ configuration });
  world.metrics.notReady.inc({ configuration });
  world.metrics.placementFailures.inc({ reason: 'ram' });
}
afterEach(() => world.stop());

async function scrape(token?: string): Promise<{ status: number; text: string }> {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const { statusCode, body, headers: answered } = await world.server.inject({ url: '/api/metrics', headers });
  if (statusCode === 200) expect(answered['content-type']).toBe(TYPE);
  return { status: statusCode, text: body };
}
const namesIn = (text: string): string[] => NAMES.filter((name) => text.includes(name));
const faultsIn = (text: string): number =>
  Number(/^drover_configuration_file_errors (\d+)$/m.exec(text)?.[1]);

describe('GET /metrics', () => {
  beforeEach(() => start());

  it('shows names and instances to callers with an API key, of either scope', async () => {
    for (const token of [world.admin, await world.addKey('prometheus', 'PUBLIC')]) {
      const { status, text } = await scrape(token);
      expect([status, namesIn(text)]).toEqual([200, NAMES]);
      expect(text).toContain('drover_instances{configuration="secret-game",state="ONLINE"} 1\n');
      expect(text).toContain('drover_instance_processes{instance="aaaaaa",');
      expect(text).toContain('drover_configuration_health{configuration="secret-game",state="failing"} 1\n');
      expect(text).toContain('drover_queue_depth');
    }
  });

  it('shows neither to others, and says what is left out', async () => {
    for (const token of [undefined, 'drv_nonsense', world.tokens.issue('aaaaaa', 1000)]) {
      const { status, text } = await scrape(token);
      expect([status, namesIn(text)]).toEqual([200, []]);
      expect(text).toContain('\ndrover_placement_failures_total{reason="ram"} 1\n');
      expect(text).toContain('\nprocess_cpu_seconds_total ');
      expect(text).toMatch(/^# without an API key, .* left out/);
    }
    expect((await scrape(world.admin)).text).not.toContain('left out');
  });

  it('counts anew once a second, however many ask, for callers with a key and for others', async () => {
    const figures = async (token?: string): Promise<number[]> => {
      const answers = await Promise.all([1, 2, 3].map(() => scrape(token)));
      return [...answers, await scrape(token)].map(({ text }) => faultsIn(text));
    };
    expect(await figures(world.admin)).toEqual([1, 1, 1, 1]);
    expect(await figures()).toEqual([2, 2, 2, 2]);
    await world.clock.advance(999);
    expect(await figures(world.admin)).toEqual([1, 1, 1, 1]);
    await world.clock.advance(1);
    expect(await figures()).toEqual([3, 3, 3, 3]);
    expect(await figures(world.admin)).toEqual([4, 4, 4, 4]);
  });
});

describe('GET /metrics with metricsNeedKey', () => {
  beforeEach(() => start({ metricsNeedKey: true }));

  it('answers 401 without an API key, and everything with one of either scope', async () => {
    for (const token of [undefined, 'drv_nonsense', world.tokens.issue('aaaaaa', 1000)])
      expect(await scrape(token)).toEqual({
        status: 401,
        text: '{"error":"Unauthorized","code":"DRV_KEY_REFUSED"}',
      });
    for (const token of [world.admin, await world.addKey('prometheus', 'PUBLIC')])
      expect(namesIn((await scrape(token)).text)).toEqual(NAMES);
  });
});
