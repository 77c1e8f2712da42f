/** What the replacement controller observes of nodes that come back. */
import { pino } from 'pino';
import { expect, it } from 'vitest';
import { Mover } from '../../../controllers/master/replacement/mover.js';
import { Replacements } from '../../../controllers/master/replacement/reconciler.js';
import { Victims } from '../../../controllers/master/replacement/victims.js';
import type { InstanceStatus } from '../../../src/model/instance.js';
import { InstanceWriter } from '../../../src/state/instance-writes.js';
import { MasterState } from '../../../src/state/master-state.js';
import { instanceKey, nodeKey } from '../../../src/store/keys.js';
import { instanceRecord, nodeRecord, placedOn, withStatus } from '../../support/control-plane/records.js';
import { FakeClock } from '../../support/fake-clock.js';
import { MemoryStore } from '../../support/store/memory-store.js';

it.each<[string, Partial<InstanceStatus>]>([
  ['marked as lost', { state: 'OFFLINE', reason: 'node-lost' }],
  ['awaiting a report', { state: 'CREATING', awaitsReport: true }],
])('judges no original on a node that is back while it is %s', async (_what, status) => {
  const store = new MemoryStore();
  const logger = pino({ level: 'silent' });
  const state = new MasterState(store, logger);
  await state.start();
  const { status: fresh } = instanceRecord('old1aa');
  const placement = placedOn('alpha');
  const old = instanceRecord('old1aa', { madeBy: 'enforcer', placement, status: withStatus(fresh, status) });
  const made = instanceRecord('new1aa', {
    madeBy: 'enforcer',
    placement: placedOn('beta'),
    replaces: 'old1aa',
    status: withStatus(fresh, { state: 'ONLINE', pid: 7 }),
  });
  const revision = await store.transact([
    ...['alpha', 'beta'].map((id) => ({ do: 'create', key: nodeKey(id), value: nodeRecord(id) }) as const),
    ...[old, made].map((value) => ({ do: 'create', key: instanceKey(value.id), value }) as const),
  ]);
  await Promise.all([state.instances.until(revision), state.nodes.until(revision)]);
  const writer = new InstanceWriter({ ...state, clock: new FakeClock() });
  const replacements = new Replacements({
    ...state,
    victims: new Victims({
      ...state,
      outlookOf: () => expect.fail('nothing is to be placed'),
      delayOf: () => 0,
    }),
    mover: new Mover({
      ...state,
      creations: { replace: async () => expect.fail('nothing is to be made') },
      writer,
      logger,
      onCreated: () => {},
    }),
    isMoving: () => false,
  });
  const facts = replacements.observe('old1aa');
  expect(facts === undefined ? undefined : replacements.plan(facts).steps).toEqual([]);
  await state.stop();
  await store.close();
});
