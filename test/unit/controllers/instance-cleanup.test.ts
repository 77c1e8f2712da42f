/** What instance-cleanup does to the store, where its plan alone does not show it. */
import { pino } from 'pino';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { InstanceCleanup } from '../../../controllers/master/instance-cleanup/reconciler.js';
import { Conflict } from '../../../src/loop/reconciler.js';
import { InstanceWriter } from '../../../src/state/instance-writes.js';
import { MasterState } from '../../../src/state/master-state.js';
import { historyKey, instanceKey, revisionKey } from '../../../src/store/keys.js';
import { create } from '../../../src/store/store.js';
import { FlakyStore } from '../../support/control-plane/flaky-store.js';
import { configurationOf, instanceRecord } from '../../support/control-plane/records.js';
import { FakeClock } from '../../support/fake-clock.js';

let clock: FakeClock;
let store: FlakyStore;
let state: MasterState;
let writer: InstanceWriter;
let cleanup: InstanceCleanup;

beforeEach(async () => {
  clock = new FakeClock();
  store = new FlakyStore(clock);
  const logger = pino({ level: 'silent' });
  state = new MasterState(store, logger);
  await state.start();
  writer = new InstanceWriter({ ...state, clock });
  cleanup = new InstanceCleanup({ ...state, writer, clock, spareOf: () => 0, logger });
  await state.revisions.until(await create(store, revisionKey('f00'), configurationOf('lobby')));
});

afterEach(async () => {
  store.latencyMs = 0;
  await state.stop();
  await store.close();
});

it('keeps a revision that an instance names whose creation is under way', async () => {
  store.latencyMs = 50;
  const creating = create(store, instanceKey('aaaaaa'), instanceRecord('aaaaaa'));
  const removing = expect(cleanup.perform({ do: 'remove-revision', hash: 'f00' })).rejects.toThrow(Conflict);
  await clock.advance(500);
  await Promise.all([creating, removing]);
  expect(await store.get(revisionKey('f00'))).toBeDefined();
});

it('keeps a revision that stands in a history', async () => {
  const origin = { file: 'lobby.json', node: null, key: null, commit: null, isDirty: null };
  const contents = [{ ...origin, number: 1, revision: 'f00', at: 1 }];
  await state.histories.until(await create(store, historyKey('lobby'), { contents }));
  await expect(cleanup.perform({ do: 'remove-revision', hash: 'f00' })).rejects.toThrow(Conflict);
});

it('removes a revision that nothing names, also while other writes are under way', async () => {
  store.latencyMs = 50;
  const creating = create(store, instanceKey('aaaaaa'), instanceRecord('aaaaaa', { revision: 'bar' }));
  const removing = cleanup.perform({ do: 'remove-revision', hash: 'f00' });
  await clock.advance(500);
  await Promise.all([creating, removing]);
  expect(await store.get(revisionKey('f00'))).toBeUndefined();
});

it.each([
  ['what it had replaced', 'first1', 'first1'],
  ['it still, when it had replaced nothing', undefined, 'middle'],
])('lets the replacement of a record that goes replace %s', async (_what, replaced, inherited) => {
  const records = [
    instanceRecord('middle', {
      desired: { goal: 'remove', restartToken: 0 },
      ...(replaced !== undefined && { replaces: replaced }),
    }),
    instanceRecord('last1a', { replaces: 'middle' }),
  ];
  const revision = await store.transact(
    records.map((value) => ({ do: 'create', key: instanceKey(value.id), value })),
  );
  await state.instances.until(revision);
  await cleanup.perform({ do: 'remove-instance', id: 'middle' });
  expect([...state.instances.entries()].map(([id, { value }]) => [id, value.replaces])).toEqual([
    ['last1a', inherited],
  ]);
});

it('leaves alone what a client starts at the moment of its collection', async () => {
  const ended = instanceRecord('aaaaaa', {
    desired: { goal: 'stop', restartToken: 0, stoppedBy: 'instance' },
  });
  await state.instances.until(await create(store, instanceKey('aaaaaa'), ended));
  store.latencyMs = 50;
  const starting = writer.setLifecycle('aaaaaa', 'start');
  const collecting = expect(cleanup.perform({ do: 'collect', id: 'aaaaaa', agoMs: 0 })).rejects.toThrow(
    Conflict,
  );
  await clock.advance(500);
  await Promise.all([starting, collecting]);
  expect(state.instances.get('aaaaaa')?.value.desired.goal).toBe('run');
});
