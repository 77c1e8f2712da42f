/** What a drain does to the store, where its plan alone does not show it. */

import { pino } from 'pino';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { InstanceCreations } from '../../../controllers/master/creation/instance-creations.js';
import { plan } from '../../../controllers/master/drain/plan.js';
import { Drains } from '../../../controllers/master/drain/reconciler.js';
import { MinimumService } from '../../../controllers/master/minimum-service/reconciler.js';
import { Mover } from '../../../controllers/master/replacement/mover.js';
import { Victims } from '../../../controllers/master/replacement/victims.js';
import { Conflict } from '../../../src/loop/reconciler.js';
import { InstanceWriter } from '../../../src/state/instance-writes.js';
import { MasterState } from '../../../src/state/master-state.js';
import { configurationKey, instanceKey, nodeKey } from '../../../src/store/keys.js';
import { AS_IT_IS } from '../../support/control-plane/as-it-is.js';
import { onlineRecord } from '../../support/control-plane/explain-facts.js';
import { FlakyStore } from '../../support/control-plane/flaky-store.js';
import {
  configurationOf,
  instanceRecord,
  nodeRecord,
  placedOn,
} from '../../support/control-plane/records.js';
import { FakeClock } from '../../support/fake-clock.js';

const DRAINING = nodeRecord('alpha', { cordoned: true, drain: { since: 0, deadline: 1, doneAt: null } });

let clock: FakeClock;
let store: FlakyStore;
let state: MasterState;
let writer: InstanceWriter;
let drains: Drains;

beforeEach(async () => {
  clock = new FakeClock();
  store = new FlakyStore(clock);
  const logger = pino({ level: 'silent' });
  state = new MasterState(store, logger);
  await state.start();
  writer = new InstanceWriter({ ...state, clock });
  const creations = new InstanceCreations({
    ...state,
    placement: AS_IT_IS,
    isInForce: async () => true,
    clock,
  });
  const service = new MinimumService({ ...state, writer, creations, clock, logger });
  const victims = new Victims({
    ...state,
    outlookOf: () => ({ obstacle: null, hasBusyPorts: false }),
    delayOf: (name) => service.delayOf(name),
  });
  const mover = new Mover({
    ...state,
    creations,
    writer,
    onCreated: (name, id) => service.noteCreated(name, id),
    logger,
  });
  drains = new Drains({ ...state, victims, mover, clock, logger });
  const configuration = configurationOf('lobby');
  await put(nodeKey('alpha'), DRAINING);
  await put(configurationKey('lobby'), {
    configuration,
    hash: 'f00',
    sourceFile: 'lobby.json',
    sourceNode: 'alpha',
  });
  await put(instanceKey('old1aa'), instanceRecord('old1aa', { placement: placedOn('alpha') }));
  await put(instanceKey('new1aa'), instanceRecord('new1aa', { replaces: 'old1aa' }));
});

afterEach(async () => {
  store.latencyMs = 0;
  await state.stop();
  await store.close();
});

async function put(key: string, value: unknown): Promise<void> {
  const revision = await store.transact([{ do: 'put', key, value }]);
  await Promise.all(
    [state.instances, state.nodes, state.configurations].map((mirror) => mirror.until(revision)),
  );
}

const wanted = () =>
  [...state.instances.entries()].filter(([, { value }]) => value.desired.goal === 'run').map(([id]) => id);

const STEPS = [
  { do: 'remove', id: 'old1aa', staying: 'new1aa', why: 'it is moved' },
  { do: 'create', id: 'old1aa' },
  { do: 'replace', id: 'old1aa' },
] as const;

it.each(STEPS)('does not $do once it is called off', async (step) => {
  await put(nodeKey('alpha'), nodeRecord('alpha'));
  await expect(drains.perform(step)).rejects.toThrow(Conflict);
  expect(wanted()).toEqual(['old1aa', 'new1aa']);
});

it('removes nothing when it is called off while the disk is slow', async () => {
  store.latencyMs = 50;
  const called = store.transact([{ do: 'put', key: nodeKey('alpha'), value: nodeRecord('alpha') }]);
  const removed = expect(drains.perform(STEPS[0])).rejects.toMatchObject({ code: 'DRV_STORE_CONFLICT' });
  await clock.advance(500);
  await Promise.all([called, removed]);
  expect(wanted()).toEqual(['old1aa', 'new1aa']);
});

it('moves while it goes on', async () => {
  await drains.perform(STEPS[0]);
  expect(wanted()).toEqual(['new1aa']);
});

/** Adds an instance that is up on alpha, and what its drain needs to go on with it. Returns its id. */
async function move({ isStatic }: { readonly isStatic: boolean }): Promise<string> {
  const configuration = { ...configurationOf('lobby'), static: isStatic };
  await put(configurationKey('lobby'), {
    configuration,
    hash: 'f00',
    sourceFile: 'lobby.json',
    sourceNode: 'alpha',
  });
  const old = onlineRecord({ placement: placedOn('alpha') });
  await put(instanceKey(old.id), old);
  await put(
    instanceKey('new1aa'),
    instanceRecord('new1aa', { replaces: 'old1aa', placement: placedOn('beta') }),
  );
  return old.id;
}

const planned = () => {
  const facts = drains.observe('alpha');
  const { steps = [], recheckInMs } = (facts && plan(facts)) ?? {};
  return { step: steps.find((step) => step.do === 'create'), recheckInMs };
};

async function makeReplacement(of: string): Promise<string> {
  await drains.perform({ do: 'create', id: of });
  return wanted().find((id) => state.instances.get(id)?.value.replaces === of) ?? '';
}

it('waits with the next replacement while the last ones end young', async () => {
  const old = await move({ isStatic: false });
  for (const waitMs of [1000, 2000, 4000]) {
    expect(planned().step).toEqual({ do: 'create', id: old });
    await writer.reportState(await makeReplacement(old), { state: 'STOPPED' });
    expect(planned()).toEqual({ step: undefined, recheckInMs: waitMs });
    expect(drains.moveOf(old)).toContain(`the next one is made in ${waitMs / 1000} s`);
    await clock.advance(waitMs);
  }
});

it.each([
  ['started', (id: string) => writer.setLifecycle(id, 'start')],
  ['deleted', (id: string) => writer.remove(id)],
])('makes no second replacement while a static one is stopped, until that is %s', async (_how, settle) => {
  const old = await move({ isStatic: true });
  const made = await makeReplacement(old);
  await writer.reportState(made, { state: 'STOPPED' });
  await clock.advance(3_600_000);
  expect(planned()).toEqual({ step: undefined, recheckInMs: undefined });
  expect(drains.moveOf(old)).toContain(`its replacement ${made} is static and stopped`);

  await settle(made);
  expect(planned().step).toEqual({ do: 'create', id: old });
});
