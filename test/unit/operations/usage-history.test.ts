/** What is remembered of instances for charts: how long, of which, and in how much memory. */

import { afterEach, beforeEach, expect, it } from 'vitest';
import type { InstanceRecord } from '../../../src/model/instance.js';
import type { InstanceUsage } from '../../../src/model/run/instance-usage.js';
import type { Reads } from '../../../src/operations/reads.js';
import { UsageHistory } from '../../../src/operations/usage-history.js';
import { instanceRecord, instanceStatus } from '../../support/api/api-world.js';
import { bufferBytes } from '../../support/buffer-bytes.js';
import { given } from '../../support/control-plane/given.js';
import { FakeClock } from '../../support/fake-clock.js';

const EVERY_MS = 15_000;
const MB = 1024 * 1024;

let clock: FakeClock;
let history: UsageHistory;
const records = new Map<string, { revision: number; value: InstanceRecord }>();
const used = new Map<string, InstanceUsage>();

beforeEach(() => {
  clock = new FakeClock();
  history = new UsageHistory(given<Reads>({ instances: records, usageOf: (id) => used.get(id), clock }));
  history.start();
});
afterEach(() => {
  history.stop();
  records.clear();
  used.clear();
});

function add(id: string, players: number | null = null): void {
  const status = { ...instanceStatus('ONLINE'), players };
  records.set(id, { revision: 1, value: instanceRecord({ id, status }) });
}

function use(id: string, cpuPercent: number | null, memoryBytes: number): void {
  used.set(id, { cpuSeconds: 1, cpuPercent, memoryBytes, processes: 1 });
}

it('has a sample of every 15 s from the first measure on, and none where the node was away', async () => {
  add('aaaaaa', 3);
  add('bbbbbb');
  await clock.advance(EVERY_MS);
  use('aaaaaa', null, 5 * MB);
  await clock.advance(EVERY_MS);
  use('aaaaaa', 150, 6 * MB);
  use('bbbbbb', 1, MB);
  await clock.advance(EVERY_MS);
  used.clear();
  await clock.advance(EVERY_MS);
  const end = clock.now();
  expect(history.of('aaaaaa')).toEqual({
    at: [end - 3 * EVERY_MS, end - 2 * EVERY_MS, end - EVERY_MS, end],
    cpuPercent: [null, null, 150, null],
    memoryBytes: [null, 5 * MB, 6 * MB, null],
    players: [3, 3, 3, 3],
  });
  expect(history.of('bbbbbb')).toEqual({
    at: [end - EVERY_MS, end],
    cpuPercent: [1, null],
    memoryBytes: [MB, null],
    players: [null, null],
  });
  expect(history.of('cccccc').at).toEqual([]);
});

it('keeps the last 120, in order, and nothing of an instance that is gone', async () => {
  add('aaaaaa');
  for (let count = 1; count <= 130; count++) {
    use('aaaaaa', count, count);
    await clock.advance(EVERY_MS);
  }
  const { at, cpuPercent } = history.of('aaaaaa');
  expect(cpuPercent).toEqual(Array.from({ length: 120 }, (_, index) => index + 11));
  expect([at.length, at.at(-1), at[0]]).toEqual([120, clock.now(), clock.now() - 119 * EVERY_MS]);
  records.clear();
  await clock.advance(EVERY_MS);
  add('aaaaaa');
  expect(history.of('aaaaaa').at).toEqual([]);
});

it('takes between 10 and 20 MB for 10,000 instances', async () => {
  for (let index = 0; index < 10_000; index++) {
    const id = index.toString(36).padStart(6, '0');
    records.set(id, { revision: 1, value: instanceRecord({ id: 'aaaaaa' }) });
    used.set(id, { cpuSeconds: 1, cpuPercent: 1, memoryBytes: 1, processes: 1 });
  }
  const before = bufferBytes();
  await clock.advance(EVERY_MS);
  const bytes = bufferBytes() - before;
  expect(bytes).toBeGreaterThan(10 * MB);
  expect(bytes).toBeLessThan(20 * MB);
});
