/** Which instances end because their configuration is gone, and how long their players are waited for. */
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Leavers } from '../../../controllers/master/minimum-service/leavers.js';
import { type LeavingInstance, planEnds } from '../../../controllers/master/minimum-service/surplus.js';
import { Conflict } from '../../../src/loop/reconciler.js';
import { type ConfigurationInput, configurationSchema } from '../../../src/model/configuration.js';
import type { InstanceRecord } from '../../../src/model/instance.js';
import { InstanceWriter } from '../../../src/state/instance-writes.js';
import { MasterState } from '../../../src/state/master-state.js';
import { configurationKey, instanceKey, revisionKey } from '../../../src/store/keys.js';
import type { Operation } from '../../../src/store/store.js';
import { instanceRecord } from '../../support/control-plane/records.js';
import { FakeClock } from '../../support/fake-clock.js';
import { MemoryStore } from '../../support/store/memory-store.js';

describe('the plan for what a configuration left', () => {
  const one = (id: string, isUsed: boolean, fields: Partial<LeavingInstance['patience']> = {}) => ({
    id,
    players: isUsed ? ('some' as const) : ('none' as const),
    patience: { players: 'wait' as const, leftMs: null, ...fields },
  });
  const decide = (...leaving: LeavingInstance[]): string[] => {
    const { steps, recheckInMs } = planEnds('leave', 'lobby', leaving);
    const said = steps.map(({ id, evenUsed }) => `${id}${evenUsed ? ' with its players' : ''}`);
    return recheckInMs === undefined ? said : [...said, `look again in ${recheckInMs} ms`];
  };

  it.each<[string, LeavingInstance[], string[]]>([
    ['ends what has no players', [one('a', false), one('b', false)], ['a', 'b']],
    ['waits for players for ever', [one('a', true), one('b', false)], ['b']],
    ['or until their time is over', [one('a', true, { leftMs: 70 })], ['look again in 70 ms']],
    ['which is then', [one('a', true, { leftMs: 0 })], ['a with its players']],
    [
      'looks again at the next of several',
      [one('a', true, { leftMs: 70 }), one('b', true, { leftMs: 9 })],
      ['look again in 9 ms'],
    ],
    ['waits for nobody where that is said', [one('a', true, { players: 'ignore' })], ['a with its players']],
    ['has nothing to do', [], []],
  ])('%s', (_what, leaving, said) => {
    expect(decide(...leaving)).toEqual(said);
  });
});

describe('what a configuration left', () => {
  const clock = new FakeClock();
  const logger = pino({ level: 'silent' });
  let store: MemoryStore;
  let state: MasterState;
  let leavers: Leavers;
  beforeEach(async () => {
    store = new MemoryStore();
    state = new MasterState(store, logger);
    await state.start();
    leavers = new Leavers({ ...state, writer: new InstanceWriter({ ...state, clock }), clock, logger });
  });
  afterEach(async () => {
    await state.stop();
    await store.close();
  });

  const content = (fields: Partial<ConfigurationInput>) =>
    configurationSchema.parse({ name: 'lobby', command: 'run', ...fields });

  async function write(operations: Operation[]): Promise<void> {
    const written = await store.transact(operations);
    const { instances, configurations, revisions } = state;
    await Promise.all([instances, configurations, revisions].map((mirror) => mirror.until(written)));
  }

  async function left(fields: Partial<ConfigurationInput>, ...records: InstanceRecord[]): Promise<void> {
    await write([
      { do: 'put', key: revisionKey('f00'), value: content(fields) },
      ...records.map((value) => ({ do: 'create' as const, key: instanceKey(value.id), value })),
    ]);
  }

  const made = (id: string, fields: Partial<InstanceRecord> = {}): InstanceRecord =>
    instanceRecord(id, { configurationName: 'lobby', revision: 'f00', ...fields });
  const goalOf = (id: string) => state.instances.get(id)?.value.desired.goal;
  const leaving = () => leavers.observe('lobby')?.leaving.map(({ id }) => id);
  const end = (id: string) => leavers.perform({ do: 'leave', name: 'lobby', id, evenUsed: false });

  it('goes on unless its own content says "stop"', async () => {
    await left({}, made('k1aaaa'));
    expect(leaving()).toBeUndefined();
    await write([{ do: 'put', key: revisionKey('bar'), value: content({ onDelete: 'stop' }) }]);
    await write([{ do: 'create', key: instanceKey('k2aaaa'), value: made('k2aaaa', { revision: 'bar' }) }]);
    expect(leaving()).toEqual(['k2aaaa']);
  });

  it('is removed, or stopped where it is static, and then has left', async () => {
    await left({ onDelete: 'stop' }, made('k1aaaa'), made('k2aaaa', { static: true }));
    expect(leaving()).toEqual(['k1aaaa', 'k2aaaa']);
    await end('k1aaaa');
    await end('k2aaaa');
    expect([goalOf('k1aaaa'), goalOf('k2aaaa')]).toEqual(['remove', 'stop']);
    expect(leaving()).toBeUndefined();
  });

  it('stays when its configuration is back, also when that is seen only at the write', async () => {
    await left({ onDelete: 'stop' }, made('k1aaaa'));
    const configuration = content({ onDelete: 'stop' });
    const value = { configuration, sourceFile: 'lobby.json', sourceNode: 'alpha', hash: 'f00' };
    await write([{ do: 'create', key: configurationKey('lobby'), value }]);
    expect(leaving()).toBeUndefined();
    await expect(end('k1aaaa')).rejects.toThrow(Conflict);
    expect(goalOf('k1aaaa')).toBe('run');
  });

  it('stays while the record of its configuration cannot be read', async () => {
    await left({ onDelete: 'stop' }, made('k1aaaa'));
    await write([{ do: 'create', key: configurationKey('lobby'), value: 'unreadable' }]);
    expect(leaving()).toBeUndefined();
    await expect(end('k1aaaa')).rejects.toThrow(Conflict);
  });

  it('is not ended when players came meanwhile', async () => {
    const { status } = made('k1aaaa');
    await left({ onDelete: 'stop' }, made('k1aaaa', { status: { ...status, players: 2 } }));
    await expect(end('k1aaaa')).rejects.toThrow(Conflict);
    expect(goalOf('k1aaaa')).toBe('run');
  });

  it('is waited for from the first look on', async () => {
    const { status } = made('k1aaaa');
    const busy = { status: { ...status, players: 2 } };
    await left({ onDelete: 'stop', update: { playersSeconds: 60 } }, made('k1aaaa', busy));
    const waits = () => leavers.observe('lobby')?.leaving.map(({ patience }) => patience.leftMs);
    expect(waits()).toEqual([60_000]);
    await clock.advance(45_000);
    expect(waits()).toEqual([15_000]);
    const value = { configuration: content({}), sourceFile: 'lobby.json', sourceNode: 'alpha', hash: 'f00' };
    await write([{ do: 'put', key: configurationKey('lobby'), value }]);
    expect(waits()).toBeUndefined();
    await write([
      {
        do: 'remove',
        key: configurationKey('lobby'),
        expectedRevision: state.configurations.get('lobby')?.revision ?? 0,
      },
    ]);
    // It was back in between.
    expect(waits()).toEqual([60_000]);
  });
});
