/** What an instance at rest has given back stays free, whatever is asked or said of it before it is placed again. */
import { pino } from 'pino';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { FleetChanges } from '../../../controllers/master/placement/fleet-changes.js';
import { PlacementLedger } from '../../../controllers/master/placement/ledger.js';
import type { InstanceRecord } from '../../../src/model/instance.js';
import { InstanceWriter } from '../../../src/state/instance-writes.js';
import { MasterState } from '../../../src/state/master-state.js';
import { instanceKey } from '../../../src/store/keys.js';
import { instanceRecord, placedOn, withStatus } from '../../support/control-plane/records.js';
import { FakeClock } from '../../support/fake-clock.js';
import { MemoryStore } from '../../support/store/memory-store.js';

const ID = 'one1aa';

let store: MemoryStore;
let state: MasterState;
let writer: InstanceWriter;
let ledger: PlacementLedger;

beforeEach(async () => {
  store = new MemoryStore();
  state = new MasterState(store, pino({ level: 'silent' }));
  writer = new InstanceWriter({ ...state, store, clock: new FakeClock() });
  ledger = new PlacementLedger(state.instances, new FleetChanges());
  await state.start();
});

afterEach(async () => {
  await state.stop();
  await store.close();
});

async function put(fields: Partial<InstanceRecord>): Promise<void> {
  const value = instanceRecord(ID, { ramMB: 300, placement: placedOn('node1'), ...fields });
  await state.instances.until(await store.transact([{ do: 'put', key: instanceKey(ID), value }]));
}

const { status } = instanceRecord(ID);
const STOPPED: InstanceRecord['status'] = { ...status, state: 'STOPPED', pid: null };
const RUN = { goal: 'run', restartToken: 0 } as const;
const STOP = { goal: 'stop', restartToken: 0 } as const;

const AT_REST: [string, Partial<InstanceRecord>][] = [
  ['stopped', { desired: STOP, status: { ...STOPPED, reason: 'stopped' } }],
  ['static and finished', { static: true, desired: RUN, status: { ...STOPPED, reason: 'exited' } }],
  [
    'over by its own word',
    {
      desired: { ...STOP, stoppedBy: 'instance' },
      status: { ...STOPPED, reason: 'stopped', endedAt: 1 },
    },
  ],
];

const used = () => ledger.use('node1').ramMB;

it.each(AT_REST)('counts no RAM of one that is %s and is deleted', async (_what, fields) => {
  await put(fields);
  expect(used()).toBe(0);
  await writer.remove(ID);
  expect(used()).toBe(0);
});

it.each(AT_REST)('counts no RAM of one that is %s and reports a state', async (_what, fields) => {
  await put(fields);
  for (const reportedState of ['ONLINE', 'OFFLINE', 'STOPPED'] as const) {
    await writer.reportState(ID, { state: reportedState });
    expect(used(), reportedState).toBe(0);
  }
  await writer.setLifecycle(ID, 'start');
  const record = state.instances.get(ID)?.value;
  expect(record?.placement, 'it must fit anew').toBeNull();
  expect(record?.status.endedAt).toBeUndefined();
});

it('counts no RAM of one that is finished and is stopped', async () => {
  await put({ static: true, desired: RUN, status: { ...STOPPED, reason: 'exited' } });
  await writer.setLifecycle(ID, 'stop');
  expect(used()).toBe(0);
});

it('counts the RAM of one that is deleted while it runs, until its record is gone', async () => {
  await put({ desired: RUN, status: withStatus(status, { state: 'ONLINE', pid: 7 }) });
  await writer.remove(ID);
  expect(used()).toBe(300);
  const { revision } = state.instances.get(ID) ?? expect.fail('its record is there');
  const removed = await store.transact([{ do: 'remove', key: instanceKey(ID), expectedRevision: revision }]);
  await state.instances.until(removed);
  expect(used()).toBe(0);
});

it('shares a port only in the protocols in which all of it is shared', async () => {
  const near = { name: 'near', port: 30_003, protocol: 'udp', sharedBy: 'lobby' } as const;
  const query = { name: 'query', port: 30_003, protocol: 'tcp' } as const;
  await put({ placement: { ...placedOn('node1'), ports: [near, query] } });
  const at = { nodeId: 'node1', hostAddress: placedOn('node1').hostAddress };
  const holder = (protocol: 'tcp' | 'udp' | 'both'): string | undefined =>
    ledger.holderOf(at, { port: 30_003, protocol, sharedBy: 'lobby' }, '');
  expect([holder('udp'), holder('tcp'), holder('both')]).toEqual([undefined, ID, ID]);
  expect(ledger.holderOf(at, { port: 30_003, protocol: 'udp', sharedBy: 'arena' }, '')).toBe(ID);
});
