/** Actions on several instances over a real master: what is asked, what is done, and what a refusal leaves. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { CommandWorld } from '../../support/control-plane/command-world.js';
import { until } from '../../support/until.js';

let world: CommandWorld;
beforeEach(async () => {
  world = await CommandWorld.create();
});
afterEach(() => world.stop());

/** Two of lobby in group games, one of arena in it, one of redis. */
async function services(): Promise<{ lobby: string[]; arena: string; redis: string }> {
  await world.configure('lobby', { minimumServiceCount: 2, instanceGroups: ['games'] });
  await world.configure('arena', { minimumServiceCount: 1, instanceGroups: ['games'] });
  await world.configure('redis', { minimumServiceCount: 1, static: true });
  const idsOf = async (name: string, count: number): Promise<string[]> =>
    (await world.untilOnline(name, count)).map(({ id }) => id);
  const [lobby, [arena = ''], [redis = '']] = [
    await idsOf('lobby', 2),
    await idsOf('arena', 1),
    await idsOf('redis', 1),
  ];
  return { lobby, arena, redis };
}

const goals = (): string[] =>
  world.plane
    .records()
    .map(({ configurationName, desired }) => `${configurationName} ${desired.goal}`)
    .sort();
const startsOf = (id: string): number =>
  world.node.runtime.starts.filter(({ instanceId }) => instanceId === id).length;

it('shows what would be done, and does it with --yes', async () => {
  const { lobby, arena, redis } = await services();
  const asked = await world.run('instance restart --group games');
  expect(asked).toContain('error: 3 instances are ended and started anew: nothing was done yet, add --yes');
  for (const id of [...lobby, arena]) expect(asked).toMatch(new RegExp(`^${id} +(lobby|arena) +ONLINE`, 'm'));
  expect(asked).not.toContain(redis);
  expect([...lobby, arena].map(startsOf)).toEqual([1, 1, 1]);

  const done = await world.run('instance restart --group games --yes');
  expect(done.split('\n').sort()).toEqual(
    ['', ...[...lobby, arena].map((id) => `instance ${id}: restart requested`)].sort(),
  );
  await until(() => expect([...lobby, arena].map(startsOf)).toEqual([2, 2, 2]));
  expect(startsOf(redis)).toBe(1);
  expect(world.audit.map(({ subject }) => subject)).toContain('instance restart --group games');
});

it('stops those that wait for others first, and the others when these have stopped', async () => {
  await world.configure('db', { minimumServiceCount: 1, static: true });
  await world.configure('shop', {
    minimumServiceCount: 1,
    static: true,
    waitsFor: [{ configuration: 'db' }],
  });
  const shop = { minimumServiceCount: 1, static: true, waitsFor: [{ configuration: 'shop' }] } as const;
  await world.configure('face', shop);
  const order: string[] = [];
  for (const name of ['db', 'shop', 'face']) await world.untilOnline(name, 1);
  const ending = new AbortController();
  world.plane.master.state.instances.onChange((_id, after) => {
    const { configurationName, desired, status } = after?.value ?? {};
    const word = status?.state === 'STOPPED' ? 'stopped' : desired?.goal === 'stop' ? 'asked' : undefined;
    const line = `${configurationName} ${word}`;
    if (word !== undefined && !order.includes(line)) order.push(line);
  }, ending.signal);
  const said = await world.run('instance stop --all --yes');
  ending.abort();
  expect(said.trim().split('\n')).toHaveLength(3);
  expect(order.slice(0, 5)).toEqual(['face asked', 'face stopped', 'shop asked', 'shop stopped', 'db asked']);
});

it('takes several ids, all of a configuration, of a node, and all', async () => {
  const { lobby, arena, redis } = await services();
  await world.run(`instance stop ${arena} ${redis} --yes`);
  await until(() =>
    expect(goals()).toEqual(['arena run', 'arena stop', 'lobby run', 'lobby run', 'redis stop']),
  );
  // The arena that was made in the place of the stopped one runs.
  await world.untilOnline('arena', 1);
  expect(await world.run('instance start --configuration arena -y')).toContain(`instance ${arena}: start`);
  await world.untilOnline('arena', 2);
  const updated = await world.json(`instance update --configuration lobby --yes`);
  expect(updated).toEqual(
    expect.arrayContaining(
      lobby.map((id) => expect.objectContaining({ instanceId: id, outcome: 'current', error: null })),
    ),
  );
  for (const name of ['lobby', 'arena', 'redis']) await world.configure(name, { minimumServiceCount: 0 });
  expect(await world.run('instance delete --node nowhere --yes')).toBe(
    'error: there is no instance on node "nowhere"\n',
  );
  const deleted = (await world.run('instance delete --all -y')).trim().split('\n');
  expect(deleted).toHaveLength(5);
  await until(() => expect(goals()).toEqual([]));
});

it('names each that is refused, does the others, and fails', async () => {
  const { redis } = await services();
  const [first] = await world.untilOnline('lobby', 2);
  // A static instance cannot take a content that is not static.
  await world.configure('redis', { minimumServiceCount: 1 });
  const line = `instance update ${first?.id} ${redis} --yes`;
  const text = await world.run(line);
  expect(text).toContain(`instance ${first?.id} has the content in force of lobby`);
  expect(text).toMatch(new RegExp(`^instance ${redis}: .*static`, 'm'));
  expect(text).toMatch(/\nerror: 1 of 2 instances was not updated\n$/);
  expect(await world.json(line)).toEqual([
    expect.objectContaining({ instanceId: first?.id, outcome: 'current', error: null }),
    { instanceId: redis, error: expect.stringContaining('static') },
  ]);
  expect(world.audit.at(-1)).toMatchObject({ result: 'failed' });
});

it('does nothing at all where one of the ids is not known', async () => {
  const { arena } = await services();
  expect(await world.run(`instance delete ${arena} nobody --yes`)).toContain(
    'error: there is no instance "nobody"; nothing was done',
  );
  expect(goals()).not.toContain('arena remove');
});
