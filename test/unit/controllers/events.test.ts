/** The list of events in the store: bounded, folded, and going on after a restart of the master. */
import { pino } from 'pino';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { EventRecorder } from '../../../controllers/master/events/recorder.js';
import { MAX_EVENTS, textOfEvent } from '../../../src/model/event.js';
import { MasterState } from '../../../src/state/master-state.js';
import { instanceKey, nodeKey } from '../../../src/store/keys.js';
import { FlakyStore } from '../../support/control-plane/flaky-store.js';
import { instanceRecord, nodeRecord, placedOn } from '../../support/control-plane/records.js';
import { FakeClock } from '../../support/fake-clock.js';

let clock: FakeClock;
let store: FlakyStore;
let state: MasterState;
let term: AbortController;
let recorder: EventRecorder;

const logger = pino({ level: 'silent' });
const begin = (): void => {
  term = new AbortController();
  recorder = new EventRecorder({ state, clock, logger, ending: term.signal });
  recorder.start();
};
const end = async (): Promise<void> => {
  await recorder.stop();
  term.abort();
};
const put = async (key: string, value: unknown): Promise<void> => {
  const revision = await store.transact([{ do: 'put', key, value }]);
  await Promise.all([state.instances.until(revision), state.nodes.until(revision)]);
};
const texts = async (): Promise<string[]> => {
  await state.events.until(await store.barrier());
  return [...state.events.entries()]
    .sort(([a], [b]) => a.localeCompare(b))
    .map(([, { value }]) => textOfEvent(value));
};

beforeEach(async () => {
  clock = new FakeClock();
  store = new FlakyStore(clock);
  state = new MasterState(store, logger);
  await state.start();
  begin();
});

afterEach(async () => {
  await end();
  await state.stop();
  await store.close();
});

it('writes what changes within a second, and each event once', async () => {
  await put(nodeKey('ams-1'), nodeRecord('ams-1'));
  await put(instanceKey('aaaaaa'), instanceRecord('aaaaaa', { placement: placedOn('ams-1') }));
  await put(instanceKey('bbbbbb'), instanceRecord('bbbbbb', { placement: placedOn('ams-1') }));
  expect(await texts()).toEqual([]);
  await clock.advance(1000);
  expect(await texts()).toEqual(['ams-1 joined', '2 of lobby were made on ams-1']);
});

it('goes on in the list of the former master, and folds into its events', async () => {
  await put(instanceKey('aaaaaa'), instanceRecord('aaaaaa'));
  await end();
  begin();
  await put(instanceKey('bbbbbb'), instanceRecord('bbbbbb'));
  await put(nodeKey('ams-1'), nodeRecord('ams-1'));
  await clock.advance(1000);
  expect(await texts()).toEqual(['2 of lobby were made', 'ams-1 joined']);
});

it('writes what is left when the term ends, and nothing after it', async () => {
  recorder.note({ kind: 'node', node: 'ams-1', detail: 'joined' });
  await end();
  recorder.note({ kind: 'node', node: 'ams-1', detail: 'is lost' });
  await clock.advance(60_000);
  expect(await texts()).toEqual(['ams-1 joined']);
});

it(`keeps the last ${MAX_EVENTS}`, async () => {
  for (let round = 0; round < 4; round++) {
    for (let index = 0; index < 300; index++)
      recorder.note({ kind: 'node', node: `node-${round}-${index}`, detail: 'joined' });
    await clock.advance(1000);
  }
  const told = await texts();
  expect(told.length).toBe(MAX_EVENTS);
  expect(told.at(-1)).toBe('node-3-299 joined');
  expect(told[0]).toBe('node-0-200 joined');
});

it('never writes a later event before an earlier one that was refused: webhooks would pass that over', async () => {
  const ids: string[] = [];
  state.events.onChange((id) => void ids.push(id));
  store.latencyMs = 2500;
  store.isFull = true;
  recorder.note({ kind: 'node', node: 'n1', detail: 'is lost' });
  await clock.advance(1500);
  recorder.note({ kind: 'node', node: 'n2', detail: 'is lost' });
  await clock.advance(2000);
  store.latencyMs = 0;
  store.isFull = false;
  await clock.advance(60_000);
  expect(store.failures).toBe(1);
  expect(await texts()).toEqual(['n1 is lost', 'n2 is lost']);
  expect(ids).toEqual(['000000000001', '000000000002']);
});

it('tries again what the store refused', async () => {
  store.isFull = true;
  recorder.note({ kind: 'node', node: 'ams-1', detail: 'joined' });
  await clock.advance(1000);
  store.isFull = false;
  await clock.advance(10_000);
  expect(await texts()).toEqual(['ams-1 joined']);
});

it('writes nothing after its term, when the master may lead again and give the same ids to other events', async () => {
  recorder.note({ kind: 'file', detail: 'late' });
  store.isFull = true;
  await clock.advance(1000);
  store.isFull = false;
  term.abort();
  begin();
  recorder.note({ kind: 'file', detail: 'of the next term' });
  await clock.advance(20_000);
  expect(await texts()).toEqual([expect.stringContaining('of the next term')]);
});
