/** Removing one of a pair: only while the two are a pair and both are wanted, however many remove at once. */
import { pino } from 'pino';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { InstanceRecord } from '../../../src/model/instance.js';
import { InstanceWriter } from '../../../src/state/instance-writes.js';
import { MasterState } from '../../../src/state/master-state.js';
import { instanceKey } from '../../../src/store/keys.js';
import { instanceRecord } from '../../support/control-plane/records.js';
import { FakeClock } from '../../support/fake-clock.js';
import { MemoryStore } from '../../support/store/memory-store.js';

let store: MemoryStore;
let state: MasterState;
let writer: InstanceWriter;

beforeEach(async () => {
  store = new MemoryStore();
  state = new MasterState(store, pino({ level: 'silent' }));
  writer = new InstanceWriter({ ...state, store, clock: new FakeClock() });
  await state.start();
});

afterEach(async () => {
  await state.stop();
  await store.close();
});

const goal = (wanted: InstanceRecord['desired']['goal']) => ({ desired: { goal: wanted, restartToken: 0 } });

async function put(id: string, fields: Partial<InstanceRecord> = {}): Promise<void> {
  const value = instanceRecord(id, fields);
  await state.instances.until(await store.transact([{ do: 'put', key: instanceKey(id), value }]));
}

const goals = () => [...state.instances.entries()].map(([id, { value }]) => `${id} ${value.desired.goal}`);

it.each([
  ['old1aa', 'new1aa', ['old1aa remove', 'new1aa run']],
  ['new1aa', 'old1aa', ['old1aa run', 'new1aa remove']],
])('removes %s of a pair, while %s stays', async (id, staying, after) => {
  await put('old1aa');
  await put('new1aa', { replaces: 'old1aa' });
  expect(await writer.removeOfPair(id, staying)).toBe(true);
  expect(goals()).toEqual(after);
});

it.each<[string, Partial<InstanceRecord>, Partial<InstanceRecord>]>([
  ['the other is being removed', {}, { replaces: 'old1aa', ...goal('remove') }],
  ['the other is being stopped', {}, { replaces: 'old1aa', ...goal('stop') }],
  ['the one is not wanted any more', goal('stop'), { replaces: 'old1aa' }],
  ['they are no pair any more', {}, {}],
])('writes nothing where %s', async (_what, old, made) => {
  await put('old1aa', old);
  await put('new1aa', made);
  const before = await store.barrier();
  expect(await writer.removeOfPair('old1aa', 'new1aa')).toBe(false);
  expect(await writer.removeOfPair('old1aa', 'gone1a')).toBe(false);
  expect(await store.barrier()).toBe(before);
});

it('keeps one when both are removed at once', async () => {
  await put('old1aa');
  await put('new1aa', { replaces: 'old1aa' });
  const ends = await Promise.allSettled([
    writer.removeOfPair('old1aa', 'new1aa'),
    writer.removeOfPair('new1aa', 'old1aa'),
  ]);
  expect(ends).toMatchObject([
    { status: 'fulfilled', value: true },
    { status: 'rejected', reason: { code: 'DRV_STORE_CONFLICT' } },
  ]);
  expect(goals()).toEqual(['old1aa remove', 'new1aa run']);
});
