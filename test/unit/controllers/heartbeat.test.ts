/** What the heartbeat controller writes while a node comes back, where its plan alone does not show it. */
import { pino } from 'pino';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { Heartbeat } from '../../../controllers/master/heartbeat/reconciler.js';
import { BeatBook } from '../../../src/channel/master/beat-book.js';
import { Conflict } from '../../../src/loop/reconciler.js';
import { instanceKey, nodeKey } from '../../../src/store/keys.js';
import { MasterState } from '../../../src/store/master-state.js';
import { FlakyStore } from '../../support/control-plane/flaky-store.js';
import { instanceRecord, nodeRecord, placedOn } from '../../support/control-plane/records.js';
import { FakeClock } from '../../support/fake-clock.js';

let clock: FakeClock;
let store: FlakyStore;
let state: MasterState;
let beats: BeatBook;
let heartbeat: Heartbeat;

beforeEach(async () => {
  clock = new FakeClock();
  store = new FlakyStore(clock);
  beats = new BeatBook(clock);
  const logger = pino({ level: 'silent' });
  state = new MasterState(store, logger);
  await state.start();
  heartbeat = new Heartbeat({
    nodes: state.nodeRecords,
    records: state.instanceRecords,
    instancesByNode: state.instancesByNode,
    beats,
    timeoutMs: 6000,
    clock,
    logger,
  });
  const value = instanceRecord('aaaaaa', { placement: placedOn('alpha') });
  const revision = await store.transact([
    { do: 'create', key: nodeKey('alpha'), value: nodeRecord('alpha', { condition: 'lost' }) },
    { do: 'create', key: instanceKey('aaaaaa'), value },
  ]);
  await Promise.all([state.instances.until(revision), state.nodes.until(revision)]);
});

afterEach(async () => {
  await state.stop();
  await store.close();
});

const markLost = () => heartbeat.perform({ do: 'mark-lost', nodeId: 'alpha', ids: ['aaaaaa'] });
const reasonOf = () => state.instances.get('aaaaaa')?.value.status.reason;

it('marks what stands on a node that is lost', async () => {
  await markLost();
  expect(reasonOf()).toBe('node-lost');
});

it('marks nothing on a node that connected after the decision: its reports would not come again', async () => {
  beats.connected('alpha');
  await expect(markLost()).rejects.toThrow(Conflict);
  expect(reasonOf()).toBeNull();
});
