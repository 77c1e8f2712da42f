/** An update in place as it is written: which fields change, and which updates are refused. */

import { pino } from 'pino';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { InstanceUpdates } from '../../../controllers/master/content/instance-updates.js';
import {
  type ConfigurationInput,
  configurationSchema,
  hashConfiguration,
} from '../../../src/model/configuration.js';
import type { InstanceRecord, StoredStatus } from '../../../src/model/instance.js';
import { InstanceWriter } from '../../../src/state/instance-writes.js';
import { MasterState } from '../../../src/state/master-state.js';
import { configurationKey, instanceKey, revisionKey } from '../../../src/store/keys.js';
import { AS_IT_IS } from '../../support/control-plane/as-it-is.js';
import { instanceRecord, placedOn, withStatus } from '../../support/control-plane/records.js';
import { FakeClock } from '../../support/fake-clock.js';
import { MemoryStore } from '../../support/store/memory-store.js';

let store: MemoryStore;
let state: MasterState;
let writer: InstanceWriter;
let updates: InstanceUpdates;

beforeEach(async () => {
  store = new MemoryStore();
  state = new MasterState(store, pino({ level: 'silent' }));
  writer = new InstanceWriter({ ...state, store, clock: new FakeClock() });
  updates = new InstanceUpdates({ ...state, placement: AS_IT_IS });
  await state.start();
});

afterEach(async () => {
  await state.stop();
  await store.close();
});

function contentOf(fields: Partial<ConfigurationInput> = {}) {
  const configuration = configurationSchema.parse({
    name: 'lobby',
    command: 'new',
    runtime: 'process',
    ...fields,
  });
  return { configuration, hash: hashConfiguration(configuration) };
}

async function putInForce(fields?: Partial<ConfigurationInput>): Promise<string> {
  const { configuration, hash } = contentOf(fields);
  const value = { configuration, hash, sourceFile: 'lobby.json', sourceNode: 'alpha' };
  await state.configurations.until(
    await store.transact([
      { do: 'put', key: configurationKey('lobby'), value },
      { do: 'put', key: revisionKey(hash), value: configuration },
    ]),
  );
  return hash;
}

async function put(fields: Partial<InstanceRecord> = {}): Promise<void> {
  const value = instanceRecord('old1aa', fields);
  await state.instances.until(await store.transact([{ do: 'put', key: instanceKey('old1aa'), value }]));
}

const recordNow = () => state.instances.get('old1aa')?.value ?? expect.fail('it is gone');
const status = (fields: Partial<StoredStatus>) =>
  withStatus(instanceRecord('a').status, { hasBeenReady: false, ...fields });

it('restarts what runs with the content in force, where it is', async () => {
  const hash = await putInForce({ ramMB: 300, cpu: 20 });
  const up = status({ state: 'ONLINE', pid: 7, players: 2 });
  await put({ placement: placedOn('alpha', 4000), madeBy: 'enforcer', status: up });
  expect(await updates.update('old1aa')).toBe('restarted');
  expect(recordNow()).toMatchObject({
    id: 'old1aa',
    revision: hash,
    ramMB: 300,
    cpu: 20,
    madeBy: 'enforcer',
    placement: placedOn('alpha', 4000),
    home: { nodeId: 'alpha', port: 4000 },
    desired: { goal: 'run', restartToken: 1 },
    status: { ...up, awaitsRestart: true },
  });
  expect(await updates.update('old1aa')).toBe('current');
  expect(recordNow().desired.restartToken).toBe(1);
});

it('holds the RAM and CPU of the former run until its end is reported, where the content asks for less', async () => {
  await putInForce({ ramMB: 100, cpu: 30 });
  await put({
    placement: placedOn('alpha'),
    ramMB: 300,
    cpu: 20,
    status: status({ state: 'ONLINE', pid: 7 }),
  });
  await updates.update('old1aa');
  expect(recordNow()).toMatchObject({ ramMB: 300, cpu: 30, status: { awaitsRestart: true } });
});

it('leaves a live content what the former run holds, until its end is reported', async () => {
  await putInForce({ ramMB: 100 });
  await put({ placement: placedOn('alpha'), ramMB: 300, status: status({ state: 'ONLINE', pid: 7 }) });
  await updates.update('old1aa');
  const revision = await putInForce({ ramMB: 100, stopTimeoutSeconds: 3 });
  await updates.update('old1aa');
  expect(recordNow()).toMatchObject({ revision, ramMB: 300, status: { awaitsRestart: true } });
});

it.each<[string, Partial<InstanceRecord>]>([
  ['is stopped', { desired: { goal: 'stop', restartToken: 3 }, placement: placedOn('alpha') }],
  ['waits for a place', { desired: { goal: 'run', restartToken: 3 } }],
  [
    'has finished',
    {
      desired: { goal: 'run', restartToken: 3 },
      placement: placedOn('alpha'),
      status: status({ state: 'STOPPED', reason: 'exited' }),
    },
  ],
])('gives what %s the content for its next start, and starts nothing', async (_what, fields) => {
  const hash = await putInForce();
  await put(fields);
  expect(await updates.update('old1aa')).toBe('taken');
  expect(recordNow()).toMatchObject({ ...fields, revision: hash });
});

it('takes another content than the one in force where it is given one, and keeps that from being collected', async () => {
  await putInForce();
  await put({ placement: placedOn('alpha') });
  const content = contentOf({ command: 'good' });
  expect(await updates.update('old1aa', { content })).toBe('restarted');
  expect(recordNow().revision).toBe(content.hash);
  await state.revisions.until(await store.barrier());
  expect(state.revisions.get(content.hash)?.value).toEqual(content.configuration);
});

it('refuses to make a static instance one that is not: its directory would be emptied', async () => {
  await putInForce({ static: false });
  await put({ static: true, placement: placedOn('alpha') });
  const before = recordNow();
  for (const refused of [updates.update('old1aa'), updates.updateWhenEmpty('old1aa')])
    await expect(refused).rejects.toMatchObject({ code: 'DRV_UPDATE_REFUSED' });
  expect(recordNow()).toEqual(before);
});

it('writes nothing where it is not due, is being removed, or has no configuration any more', async () => {
  await put({ placement: placedOn('alpha') });
  await expect(updates.update('old1aa')).rejects.toMatchObject({ code: 'DRV_CONFIGURATION_UNKNOWN' });
  await putInForce();
  const before = await store.barrier();
  expect(await updates.update('old1aa', { isDue: ({ status }) => status.pid !== null })).toBe('not-due');
  expect(await updates.update('zzzzzz')).toBe('not-due');
  expect(await store.barrier()).toBe(before);
  await writer.remove('old1aa');
  expect(await updates.update('old1aa')).toBe('not-due');
});

it('decides again after a lost race with another change of the configuration', async () => {
  await putInForce();
  await put({ placement: placedOn('alpha') });
  // The mirror has not seen the newest content when the update begins.
  const changing = putInForce({ command: 'newest' });
  expect(await updates.update('old1aa')).toBe('restarted');
  expect(recordNow().revision).toBe(await changing);
});

it('keeps a wish for an update over a restart, and drops it with the update', async () => {
  await putInForce();
  await put({ placement: placedOn('alpha') });
  await updates.updateWhenEmpty('old1aa');
  await writer.setLifecycle('old1aa', 'restart');
  expect(recordNow().desired).toEqual({ goal: 'run', restartToken: 1, updateWhenEmpty: true });
  await updates.update('old1aa');
  expect(recordNow().desired).toEqual({ goal: 'run', restartToken: 2 });
});
