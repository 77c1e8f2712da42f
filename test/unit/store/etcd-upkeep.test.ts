/** What the leader does for etcd beside its writes: old revisions are compacted, size and alarms are shown. */
import { pino } from 'pino';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { EtcdError } from '../../../src/store/etcd/etcd-error.js';
import { Upkeep } from '../../../src/store/etcd/upkeep.js';
import { addEtcdGauges } from '../../../src/telemetry/gauges.js';
import { Metrics } from '../../../src/telemetry/metrics.js';
import { type FakeClient, FakeEtcd } from '../../support/etcd/fake-etcd.js';
import { FakeClock } from '../../support/fake-clock.js';

const HOUR_MS = 3_600_000;

let clock: FakeClock;
let etcd: FakeEtcd;
let client: FakeClient;
let upkeep: Upkeep;
let log: string[];
beforeEach(() => {
  clock = new FakeClock();
  etcd = new FakeEtcd(clock);
  client = etcd.client();
  log = [];
  const logger = pino({}, { write: (line) => log.push(JSON.parse(line).msg) });
  upkeep = new Upkeep({ etcd: client, key: 'k', clock, logger });
});
afterEach(() => upkeep.stop());

it('compacts every hour to where etcd was an hour before', async () => {
  upkeep.start();
  await clock.advance(1000);
  const begin = etcd.range({ key: 'k' }).revision;
  etcd.put('k', '1');
  etcd.put('k', '2');
  await clock.advance(HOUR_MS - 60_000);
  expect(client.compactions).toEqual([]);
  await clock.advance(120_000);
  expect(client.compactions).toEqual([begin]);
  await clock.advance(HOUR_MS);
  expect(client.compactions).toEqual([begin, begin + 2]);
});

it('compacts earlier when changes fill the database, and never what came after the last time', async () => {
  const MB = 1024 * 1024;
  let databaseBytesInUse = 100 * MB;
  client.status = async () => ({ version: '3.4', databaseBytes: 1024 * MB, databaseBytesInUse });
  const marks: number[] = [];
  const grow = async (bytes: number): Promise<void> => {
    databaseBytesInUse += bytes;
    etcd.put('k', String(databaseBytesInUse));
    marks.push(etcd.range({ key: 'k' }).revision);
    await clock.advance(60_000);
  };
  upkeep.start();
  await clock.advance(1000);
  const begin = etcd.range({ key: 'k' }).revision;
  await grow(200 * MB);
  expect(client.compactions).toEqual([]);
  await grow(100 * MB);
  expect(client.compactions).toEqual([begin]);
  // What etcd freed does not hide what came since.
  databaseBytesInUse -= 150 * MB;
  await clock.advance(60_000);
  await grow(200 * MB);
  expect(client.compactions).toEqual([begin]);
  await grow(100 * MB);
  expect(client.compactions).toEqual([begin, marks[1]]);
});

it('shows size and alarms in /metrics, as of the last look that etcd answered', async () => {
  const metrics = new Metrics();
  addEtcdGauges(metrics.registry, () => upkeep.figures);
  const lines = async (): Promise<string[]> =>
    (await metrics.registry.metrics()).split('\n').filter((line) => line.startsWith('drover_etcd_'));
  upkeep.start();
  await clock.advance(100);
  expect(await lines()).toEqual([
    'drover_etcd_database_bytes 4096',
    'drover_etcd_database_in_use_bytes 1024',
  ]);
  client.alarmsOn = ['NOSPACE'];
  await clock.advance(20_000);
  expect(await lines()).toContain('drover_etcd_alarm{alarm="NOSPACE"} 1');
  expect(log).toEqual([expect.stringMatching(/^etcd has the alarm NOSPACE, .*: make room, then disarm/)]);
  client.fault = 'away';
  await clock.advance(60_000);
  expect(await lines()).toContain('drover_etcd_alarm{alarm="NOSPACE"} 1');
  client.fault = 'none';
  client.alarmsOn = [];
  await clock.advance(30_000);
  expect(await lines()).not.toContain('drover_etcd_alarm{alarm="NOSPACE"} 1');
});

it('compacts also where etcd refuses to show its size, and says what etcd refuses', async () => {
  const denied = (): Promise<never> => Promise.reject(new EtcdError('permission denied', 7));
  client.status = denied;
  upkeep.start();
  await clock.advance(HOUR_MS + 60_000);
  expect(client.compactions).toHaveLength(1);
  expect(log[0]).toBe('etcd cannot be looked at for /metrics: permission denied');
  expect(log.length).toBeLessThan(10);
  client.compact = denied;
  await clock.advance(HOUR_MS);
  expect(log).toContain('etcd cannot be compacted: permission denied');
});
