/** The records of ends that nobody asked for: one for each end, whatever is repeated, lost or late. */
import { pino } from 'pino';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { StatusIntake } from '../../../src/channel/master/status-intake.js';
import type { Report } from '../../../src/channel/protocol/messages.js';
import {
  EXITS_KEPT_MS,
  type ExitRecord,
  kindOf,
  MOST_EXIT_LINES_BYTES,
  MOST_EXIT_RECORDS,
} from '../../../src/model/exit-record.js';
import { MasterState } from '../../../src/state/master-state.js';
import { exitKey, instanceKey } from '../../../src/store/keys.js';
import { inSteps } from '../../../src/store/transaction.js';
import { Metrics } from '../../../src/telemetry/metrics.js';
import { reportOf } from '../../support/channel/messages.js';
import { intakeOver } from '../../support/channel/test-hub.js';
import { FlakyStore } from '../../support/control-plane/flaky-store.js';
import { instanceRecord, placedOn, withStatus } from '../../support/control-plane/records.js';
import { FakeClock } from '../../support/fake-clock.js';
import { metricsText } from '../../support/metrics-text.js';
import { until } from '../../support/until.js';

const ID = 'aaaaaa';
const NOW = 10 * EXITS_KEPT_MS;

let store: FlakyStore;
let state: MasterState;
let metrics: Metrics;
let intake: StatusIntake;
let lines: readonly string[];
let answering: Promise<void>;
let asked: number;

type End = NonNullable<Report['ends']>[number];
const end = (run: number, fields: Partial<End> = {}): End => ({
  run,
  at: NOW - 1000 + run,
  code: 1,
  signal: null,
  ...fields,
});
const take = (...ends: End[]): Promise<void> => intake.take('alpha', [reportOf(ID, { ends })]);
const exits = (): ExitRecord[] => [...state.exits.entries()].map(([, { value }]) => value);

beforeEach(async () => {
  const clock = new FakeClock({ startAt: NOW });
  store = new FlakyStore(clock);
  state = new MasterState(store, pino({ level: 'silent' }));
  await state.start();
  metrics = new Metrics();
  lines = ['one', 'two'];
  answering = Promise.resolve();
  asked = 0;
  intake = intakeOver(state, clock, { metrics }, async () => {
    asked++;
    await answering;
    return lines;
  });
  const record = instanceRecord(ID, { placement: placedOn('alpha', 30000) });
  const status = withStatus(record.status, { state: 'ONLINE', pid: 42, players: 7 });
  const value = { ...record, status };
  await state.instances.until(await store.transact([{ do: 'put', key: instanceKey(ID), value }]));
});

afterEach(async () => {
  store.isFull = false;
  await state.stop();
  await store.close();
});

it('keeps an end with what is known of it, and asks for its last lines', async () => {
  await take(
    end(3, { begunAt: 5, mostMemoryBytes: 9000, kind: 'out-of-memory', cause: 'killed: out of memory' }),
  );
  await until(() => expect(exits()[0]?.lines).toEqual(['one', 'two']));
  expect(exits()).toMatchObject([
    {
      instance: ID,
      configuration: 'lobby',
      node: 'alpha',
      run: 3,
      code: 1,
      kind: 'out-of-memory',
      cause: 'killed: out of memory',
      players: 7,
      begunAt: 5,
      mostMemoryBytes: 9000,
    },
  ]);
  expect(await metricsText(metrics)).toContain(
    'drover_exits_total{configuration="lobby",cause="out-of-memory"} 1',
  );
});

it('keeps each end once, however often it is named, and every end that a replaced report did not name', async () => {
  await Promise.all([take(end(1)), take(end(2), end(1))]);
  await take(end(4, { code: null, signal: 'SIGKILL' }), end(3, { code: null }), end(2), end(1));
  expect(
    exits()
      .map((exit) => [exit.run, kindOf(exit)])
      .sort(),
  ).toEqual([
    [1, 'exited'],
    [2, 'exited'],
    [3, 'unseen'],
    [4, 'signal'],
  ]);
});

it('asks for no last lines of ends that were swept away meanwhile: a node may name thousands', async () => {
  let answer: (() => void) | undefined;
  answering = new Promise((resolve) => {
    answer = resolve;
  });
  await take(end(3), end(2), end(1));
  for (const [id] of [...state.exits.entries()])
    await state.exits.until(await store.transact([{ do: 'remove', key: exitKey(id) }]));
  answer?.();
  answering = Promise.resolve();
  await take(end(4));
  await until(() => expect(exits()[0]?.lines).toEqual(['one', 'two']));
  expect(asked).toBe(2);
});

it('does not acknowledge a report whose end is not on disk', async () => {
  store.isFull = true;
  await expect(take(end(1))).rejects.toThrow();
  store.isFull = false;
  await take(end(1));
  expect(exits()).toHaveLength(1);
});

it('does not bring an end back that is older than what is kept', async () => {
  await take(end(1, { at: NOW - EXITS_KEPT_MS }));
  expect(exits()).toEqual([]);
});

it('does not bring an end back that newer ones pushed out', async () => {
  await take(end(1));
  const { value } = [...state.exits.entries()].map(([, entry]) => entry)[0] ?? {};
  const newer = Array.from({ length: MOST_EXIT_RECORDS }, (_, index) => ({
    do: 'put' as const,
    key: exitKey(`bbbbbb-${index}`),
    value: { ...value, instance: 'bbbbbb', at: NOW - 100, lines: [] },
  }));
  for (const step of inSteps([{ do: 'remove' as const, key: exitKey(`${ID}-${NOW - 999}`) }, ...newer]))
    await state.exits.until(await store.transact(step));
  await take(end(2), end(1));
  expect(exits().filter(({ instance }) => instance === ID)).toEqual([]);
  await take(end(950));
  expect(exits().filter(({ instance }) => instance === ID)).toHaveLength(1);
  expect(await metricsText(metrics)).toContain('cause="exited"} 2');
});

it('counts an end of the future as one of now: the clock of the node is ahead', async () => {
  await take(end(1, { at: NOW + EXITS_KEPT_MS }));
  await until(() => expect(exits()).toMatchObject([{ at: NOW, lines: ['one', 'two'] }]));
  await take(end(1, { at: NOW + EXITS_KEPT_MS }));
  expect(exits()).toHaveLength(1);
});

it('keeps the last lines up to a number of bytes', async () => {
  lines = Array.from({ length: 50 }, (_, index) => `${index} ${'x'.repeat(1000)}`);
  await take(end(1));
  await until(() => expect(exits()[0]?.lines).not.toBeNull());
  const kept = exits()[0]?.lines ?? [];
  expect(kept.at(-1)).toMatch(/^49 /);
  expect(kept.join('\n').length).toBeLessThanOrEqual(MOST_EXIT_LINES_BYTES);
  expect(kept.length).toBe(8);
});
