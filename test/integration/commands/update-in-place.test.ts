/** `instance update` over a real master, placement and wrapper: the content in force, where the instance is. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { ConfigurationInput } from '../../../src/model/configuration.js';
import type { InstanceRecord } from '../../../src/model/instance.js';
import { CommandWorld } from '../../support/control-plane/command-world.js';
import { until } from '../../support/until.js';

const PORTS = { min: 4000, max: 4009 };

let world: CommandWorld;
beforeEach(async () => {
  world = await CommandWorld.create();
});
afterEach(() => world.stop());

const hashNow = () => world.plane.master.state.configurations.get('redis')?.value.hash;

async function oneRedis(fields: Partial<ConfigurationInput> = {}): Promise<InstanceRecord> {
  await world.configure('redis', { static: true, minimumServiceCount: 1, availablePorts: PORTS, ...fields });
  const [record] = await world.untilOnline('redis', 1);
  return record ?? expect.fail('there is no instance');
}

const startsOf = (id: string) => world.node.runtime.starts.filter(({ instanceId }) => instanceId === id);

/** Waits until the instance runs again, as its second run. */
function untilUpdated(id: string): Promise<InstanceRecord> {
  return until(() => {
    const record = world.plane.records().find((one) => one.id === id) ?? expect.fail('it is gone');
    expect(startsOf(id)).toHaveLength(2);
    expect(record.status).toMatchObject({ state: 'ONLINE' });
    return record;
  });
}

it('restarts a static instance with the new content: same id, node, port and directory', async () => {
  const { id, placement } = await oneRedis();
  await world.configure('redis', {
    static: true,
    minimumServiceCount: 1,
    availablePorts: { min: 3990, max: 4009 },
    command: 'better',
    ramMB: 200,
  });
  expect(await world.run(`instance update ${id}`)).toContain(
    `instance ${id} is restarted in place with the content in force of redis`,
  );
  const after = await untilUpdated(id);
  expect(after).toMatchObject({ placement, revision: hashNow(), ramMB: 200 });
  expect(startsOf(id).at(-1)).toMatchObject({ command: 'better' });
  expect(world.node.removed).toEqual([]);
  expect(await world.json(`instance update ${id}`)).toMatchObject({ outcome: 'current' });
});

it('gives it another port of the new range where that does not have the old one', async () => {
  const { id } = await oneRedis();
  await world.configure('redis', {
    static: true,
    minimumServiceCount: 1,
    availablePorts: { min: 5000, max: 5001 },
  });
  await world.run(`instance update ${id}`);
  expect((await untilUpdated(id)).placement).toMatchObject({ nodeId: 'alpha', port: 5000 });
});

it.each<[string, Partial<ConfigurationInput>, string]>([
  [
    'more RAM than its node has',
    { ramMB: 1100 },
    'its node alpha needs 1100 MB of RAM, 1000 MB of 1000 MB free',
  ],
  ['more CPU', { cpu: 500 }, 'its node alpha needs 500 units of CPU, 400 of 400 free (100 = one core)'],
  ['a runtime that its node does not offer', { runtime: 'tmux' }, 'does not offer runtime tmux'],
  ['other nodes', { nodes: ['beta'] }, "its node alpha is not in the configuration's nodes (beta)"],
])('refuses %s in words and numbers, and leaves it as it is', async (_what, fields, words) => {
  const before = await oneRedis();
  await world.configure('redis', { static: true, minimumServiceCount: 1, availablePorts: PORTS, ...fields });
  expect(await world.run(`instance update ${before.id}`)).toContain(words);
  expect(world.plane.records()).toEqual([before]);
});

it('waits for players where that is asked for, and says so', async () => {
  const { id } = await oneRedis();
  const { writer } = world.plane.master;
  await writer.reportState(id, { state: 'ONLINE', players: 3 });
  await world.configure('redis', {
    static: true,
    minimumServiceCount: 1,
    availablePorts: PORTS,
    command: 'b',
  });
  expect(await world.json(`instance update ${id} --wait-for-players`)).toMatchObject({ outcome: 'waiting' });
  const { notes } = await world.dependencies.explainer.instance(id);
  expect(notes).toEqual([expect.stringContaining('takes the content in force when its players have left')]);
  await writer.reportState(id, { state: 'ONLINE', players: 1 });
  await world.plane.master.term?.controllers.whenIdle();
  expect(startsOf(id)).toHaveLength(1);
  await writer.reportState(id, { state: 'ONLINE', players: 0 });
  expect(await untilUpdated(id)).toMatchObject({ revision: hashNow() });
});
