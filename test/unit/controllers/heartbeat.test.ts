/** What the heartbeat controller writes while a node comes back, where its plan alone does not show it. */
import { pino } from 'pino';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { Heartbeat } from '../../../controllers/master/heartbeat/reconciler.js';
import { BeatBook } from '../../../src/channel/master/beat-book.js';
import { Conflict } from '../../../src/loop/reconciler.js';
import { MasterState } from '../../../src/state/master-state.js';
import { instanceKey, nodeKey } from '../../../src/store/keys.js';
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
  state = new MasterState(store, pino({ level: 'silent' }));
  await state.start();
  heartbeat = heartbeatWith(6000);
  const value = instanceRecord('aaaaaa', { placement: placedOn('alpha') });
  const revision = await store.transact([
    { do: 'create', key: nodeKey('alpha'), value: nodeRecord('alpha', { condition: 'lost' }) },
    { do: 'create', key: instanceKey('aaaaaa'), value },
  ]);
  await Promise.all([state.instances.until(revision), state.nodes.until(revision)]);
});

const heartbeatWith = (timeoutMs: number): Heartbeat =>
  new Heartbeat({
    ...state,
    beats,
    timeoutMs,
    clock,
    logger: pino({ level: 'silent' }),
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

// The least and the default. The slowest failover took 6.2 s, and nodes notice a silent leader after nodeTimeoutMs.
it.each([4000, 6000])(
  'a new leader gives nodes 10 s to find it beside a nodeTimeoutMs of %d',
  async (timeoutMs) => {
    const value = nodeRecord('alpha', { condition: 'connected' });
    await state.nodes.until(await store.transact([{ do: 'put', key: nodeKey('alpha'), value }]));
    const failover = heartbeatWith(timeoutMs);
    const stepsNow = () => {
      const facts = failover.observe('alpha');
      return facts === undefined ? undefined : failover.plan(facts).steps.map((step) => step.do);
    };
    beats.start();
    for (let ms = 0; ms < 10_000 + timeoutMs - 500; ms += 500) {
      expect(stepsNow(), `${ms} ms after it began to lead`).toEqual([]);
      await clock.advance(500);
    }
    await clock.advance(500);
    expect(stepsNow()).toEqual(['set-condition', 'mark-lost']);
    beats.connected('alpha');
    expect(stepsNow()).toEqual([]);
    beats.stop();
  },
);
