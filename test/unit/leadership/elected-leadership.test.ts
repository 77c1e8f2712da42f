/** One of several masters in its terms: the order in which it hands over, on a simulated etcd and a virtual clock. */
import { pino } from 'pino';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { TermWork } from '../../../src/leadership/candidate.js';
import { ElectedLeadership } from '../../../src/leadership/elected-leadership.js';
import type { EtcdStore } from '../../../src/store/etcd/etcd-store.js';
import { storeKeys } from '../../../src/store/etcd/leader-key.js';
import { Masters } from '../../../src/store/etcd/masters.js';
import { openElected } from '../../../src/store/etcd/open.js';
import { FakeEtcd } from '../../support/etcd/fake-etcd.js';
import { FakeClock } from '../../support/fake-clock.js';

const PREFIX = '/drover/test';

let clock: FakeClock;
let etcd: FakeEtcd;
let ends: (() => Promise<void>)[];
beforeEach(() => {
  clock = new FakeClock();
  etcd = new FakeEtcd(clock);
  ends = [];
});
afterEach(async () => {
  for (const end of ends) await soon(end());
});

interface TestMaster {
  readonly leadership: ElectedLeadership;
  readonly store: EtcdStore;
  /** What its work was told, in order. */
  readonly told: string[];
}

async function start(nodeId: string, work: Partial<TermWork> = {}): Promise<TestMaster> {
  const client = etcd.client();
  const own = { nodeId, clusterAddress: `${nodeId}:6000`, root: nodeId };
  const logger = pino({ level: 'silent' });
  const signal = new AbortController().signal;
  const opening = openElected({ etcd: client, prefix: PREFIX, own, clock, signal });
  const { store, election, lease } = await soon(opening);
  const masters = new Masters({
    etcd: client,
    keys: storeKeys(PREFIX),
    nodeId,
    lease,
    clock,
    onChange: () => leadership.changed(),
  });
  const leadership = new ElectedLeadership({ election, masters, own, clock, logger });
  masters.start();
  const told: string[] = [];
  const serving = leadership.serve({
    begin: async () => void told.push('begin'),
    finish: async () => void told.push('finish'),
    end: async () => void told.push('end'),
    ...work,
  });
  ends.push(async () => {
    await leadership.stop();
    await masters.stop();
    await store.close();
  });
  await soon(serving);
  return { leadership, store, told };
}

/** What a promise comes to while the time goes on. */
async function soon<T>(promise: Promise<T>): Promise<T> {
  let isSettled = false;
  const settled = promise.finally(() => {
    isSettled = true;
  });
  settled.catch(() => undefined);
  await clock.settle();
  for (let waited = 0; waited < 20_000 && !isSettled; waited += 50) await clock.advance(50);
  if (!isSettled) throw new Error('nothing came within 20 s');
  return settled;
}

const holder = (): unknown => etcd.json(`${PREFIX}/leader`);

it('takes nothing new while it finishes what it has begun, and may write until then', async () => {
  let finished = (): void => undefined;
  const first = await start('a', {
    finish: () =>
      new Promise((resolve) => {
        finished = resolve;
      }),
  });
  const second = await start('b');
  await clock.settle();
  expect(first.leadership.isLeader()).toBe(true);
  expect(second.leadership.leader()?.nodeId).toBe('a');
  let changes = 0;
  first.leadership.onChange(() => changes++);

  const stopping = first.leadership.stop();
  await clock.settle();
  expect([first.leadership.isLeader(), first.leadership.leader()]).toEqual([false, null]);
  expect(first.leadership.term()).not.toBeNull();
  expect(changes).toBeGreaterThan(0);
  expect(holder()).toMatchObject({ nodeId: 'a' });
  expect(second.leadership.isLeader()).toBe(false);
  await soon(first.store.transact([{ do: 'put', key: 'k', value: 'begun' }]));

  finished();
  await soon(stopping);
  expect(first.told).toEqual(['begin', 'end']);
  expect(first.leadership.term()).toBeNull();
  expect(holder()).toMatchObject({ nodeId: 'b' });
  expect(second.leadership.isLeader()).toBe(true);
  expect((await second.store.get('k'))?.value).toBe('begun');
});

it('has the next master lead before the work of its own term has ended', async () => {
  let ended = (): void => undefined;
  const first = await start('a', {
    end: () =>
      new Promise((resolve) => {
        ended = resolve;
      }),
  });
  const second = await start('b');
  const stopping = first.leadership.stop();
  await clock.settle();
  expect(second.leadership.isLeader()).toBe(true);
  expect(second.told).toEqual(['begin']);
  ended();
  await soon(stopping);
});

it('finishes nothing where it does not lead', async () => {
  const first = await start('a');
  const second = await start('b');
  await soon(second.leadership.stop());
  expect(second.told).toEqual([]);
  expect(first.leadership.isLeader()).toBe(true);
});
