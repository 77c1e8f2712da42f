/** What people ask of rollouts, as it is written: each request in each state. */
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  type Configuration,
  configurationSchema,
  hashConfiguration,
} from '../../../src/model/configuration.js';
import { isHeldBack, type RolloutRecord, revisionForNew, targetOf } from '../../../src/model/rollout.js';
import { MasterState } from '../../../src/state/master-state.js';
import { RolloutWriter } from '../../../src/state/rollout-writes.js';
import { configurationKey, revisionKey, rolloutKey } from '../../../src/store/keys.js';
import { rolloutRecord } from '../../support/control-plane/records.js';
import { FakeClock } from '../../support/fake-clock.js';
import { MemoryStore } from '../../support/store/memory-store.js';

const content = (command: string, strategy: 'rolling' | 'manual' = 'rolling'): Configuration =>
  configurationSchema.parse({ name: 'lobby', command, update: { strategy, canary: 2 } });
const OLD = hashConfiguration(content('old'));
const NEW = hashConfiguration(content('new'));

let store: MemoryStore;
let state: MasterState;
let writer: RolloutWriter;
let clock: FakeClock;

beforeEach(async () => {
  store = new MemoryStore();
  clock = new FakeClock();
  state = new MasterState(store, pino({ level: 'silent' }));
  writer = new RolloutWriter({ ...state, clock });
  await state.start();
  await configure(content('old'));
  await configure(content('new'));
});

afterEach(async () => {
  await state.stop();
  await store.close();
});

async function configure(configuration: Configuration): Promise<void> {
  const hash = hashConfiguration(configuration);
  const value = { configuration, sourceFile: 'lobby.json', sourceNode: 'alpha', hash };
  const revision = await store.transact([
    { do: 'put', key: configurationKey('lobby'), value },
    { do: 'put', key: revisionKey(hash), value: configuration },
  ]);
  await Promise.all([state.configurations.until(revision), state.revisions.until(revision)]);
}

const record = (fields: Partial<RolloutRecord> = {}): RolloutRecord =>
  rolloutRecord({ from: OLD, to: NEW, progressAt: 5, ...fields });

async function have(fields: Partial<RolloutRecord> = {}): Promise<void> {
  const value = record(fields);
  await state.rollouts.until(await store.transact([{ do: 'put', key: rolloutKey('lobby'), value }]));
}

const paused = { by: 'ann', at: 3, was: 'rolling-back' } as const;

describe('pause, resume and promote', () => {
  it('a pause remembers who asked and what went on, and a resume goes on with it', async () => {
    await have({ state: 'rolling-back' });
    const stopped = await writer.pause('lobby', 'ann');
    expect(stopped).toMatchObject({
      state: 'paused',
      paused: { by: 'ann', was: 'rolling-back' },
      progressAt: null,
    });
    expect(await writer.pause('lobby', 'bob')).toEqual(stopped);
    expect(await writer.resume('lobby')).toMatchObject({ state: 'rolling-back', paused: null });
    expect(await writer.resume('lobby')).toMatchObject({ state: 'rolling-back' });
  });

  it('a promotion lets the others follow, once the canaries are good', async () => {
    await have({ isPromoted: false });
    await expect(writer.promote('lobby')).rejects.toThrow('its canaries are not good yet');
    await have({ state: 'awaiting-promotion', isPromoted: false });
    expect(await writer.promote('lobby')).toMatchObject({ state: 'rolling', isPromoted: true });
    expect(await writer.promote('lobby')).toMatchObject({ state: 'rolling', isPromoted: true });
  });

  it.each([
    [
      'pause',
      { state: 'complete', endedAt: 9 },
      'the rollout of lobby is complete: there is nothing to pause',
    ],
    ['resume', { state: 'failed', endedAt: 9 }, 'the rollout of lobby is failed: it is not paused'],
    ['promote', { state: 'paused', paused }, 'the rollout of lobby is paused: no canaries wait for it'],
    ['retry', { state: 'rolling' }, 'the rollout of lobby is rolling: no content is held back'],
    ['restart', { state: 'paused', paused }, 'the rollout of lobby is paused: resume it first'],
  ] as const)('%s is refused in another state', async (request, fields, message) => {
    await have(fields);
    await expect(writer[request]('lobby', 'ann')).rejects.toThrow(message);
    expect(state.rollouts.get('lobby')?.value).toEqual(record(fields));
  });

  it('says which thing is unknown', async () => {
    await expect(writer.pause('lobby', 'ann')).rejects.toMatchObject({ code: 'DRV_ROLLOUT_UNKNOWN' });
    await expect(writer.pause('other', 'ann')).rejects.toMatchObject({ code: 'DRV_CONFIGURATION_UNKNOWN' });
  });
});

describe('retry', () => {
  it('takes a failed content up again, with canaries', async () => {
    await clock.advance(50);
    await have({ state: 'failed', reason: 'no-progress', message: 'never ready', endedAt: 9 });
    expect(await writer.retry('lobby', 'ann')).toMatchObject({
      state: 'rolling',
      cause: 'retry',
      reason: null,
      message: null,
      endedAt: null,
      isPromoted: false,
      by: 'ann',
      since: clock.now(),
    });
  });

  it('ends the hold-back of a manual configuration without a rollout', async () => {
    await configure(content('new', 'manual'));
    await have({ state: 'rolled-back', reason: 'rollback', message: 'lag', endedAt: 9 });
    expect(await writer.retry('lobby', 'ann')).toMatchObject({ state: 'complete', reason: null });
  });
});

describe('restart', () => {
  it('begins a rollout of the content in force where there was none', async () => {
    expect(await writer.restart('lobby', 'ann')).toMatchObject({
      from: null,
      to: NEW,
      generation: 1,
      state: 'rolling',
    });
    expect(await writer.restart('lobby', 'ann')).toMatchObject({ generation: 2, state: 'rolling' });
  });

  it('has nothing to hold back after a complete rollout, and keeps the last good content within one', async () => {
    await have({ state: 'complete', endedAt: 9 });
    expect(await writer.restart('lobby', 'ann')).toMatchObject({ from: NEW, to: NEW, generation: 1 });
    await have({ state: 'rolling' });
    expect(await writer.restart('lobby', 'ann')).toMatchObject({ from: OLD, to: NEW, generation: 1 });
  });

  it('makes the instances anew from what stands for a content that is held back', async () => {
    await have({ state: 'failed', reason: 'no-progress', message: 'never ready', endedAt: 9 });
    const again = await writer.restart('lobby', 'ann');
    expect(again).toMatchObject({ state: 'rolling-back', reason: 'no-progress', message: 'never ready' });
    expect(isHeldBack(again)).toBe(true);
    expect(targetOf(again)).toBe(OLD);
  });
});

describe('rollback', () => {
  it('holds the content of the file back, and brings the last good one to the instances', async () => {
    await have({ state: 'rolling', isPromoted: false });
    const back = await writer.rollback('lobby', { reason: 'lag since Tuesday', by: 'ann' });
    expect(back).toMatchObject({
      state: 'rolling-back',
      from: OLD,
      to: NEW,
      reason: 'rollback',
      message: 'lag since Tuesday',
    });
    expect(revisionForNew(back)).toBe(OLD);
  });

  it('only holds back where the strategy is manual', async () => {
    await configure(content('new', 'manual'));
    const back = await writer.rollback('lobby', { to: OLD, reason: 'lag', by: 'ann' });
    expect(back).toMatchObject({ state: 'rolled-back', from: OLD });
    expect(isHeldBack(back)).toBe(true);
  });

  it('refuses a revision that nobody has any more, and the one that the file says', async () => {
    await expect(writer.rollback('lobby', { to: 'f00', reason: 'x', by: 'a' })).rejects.toMatchObject({
      code: 'DRV_REVISION_UNKNOWN',
    });
    await expect(writer.rollback('lobby', { reason: 'x', by: 'a' })).rejects.toThrow(
      'no earlier content of lobby is known',
    );
    await expect(writer.rollback('lobby', { to: NEW, reason: 'x', by: 'a' })).rejects.toMatchObject({
      code: 'DRV_ROLLOUT_STATE',
    });
    expect(state.rollouts.size).toBe(0);
  });
});
