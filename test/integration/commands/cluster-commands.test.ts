/** `cluster cordon|uncordon|drain|forget` and what the listings show of them, over a real master with two wrappers. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { instanceKey } from '../../../src/store/keys.js';
import { CommandWorld } from '../../support/control-plane/command-world.js';
import { until } from '../../support/until.js';

let world: CommandWorld;

beforeEach(async () => {
  world = await CommandWorld.create();
  await world.configure('hello', { minimumServiceCount: 1 });
});

afterEach(() => world.stop());

async function report(players: number): Promise<string> {
  const [record] = await world.untilOnline('hello', 1);
  const id = record?.id ?? '';
  await world.plane.master.writer.reportState(id, { state: 'ONLINE', players });
  return id;
}

describe('cluster cordon and uncordon', () => {
  it('say what they did, and the listings show it', async () => {
    expect(await world.run('cluster cordon alpha')).toBe(
      'node alpha is cordoned: it gets no new instances\n',
    );
    expect(await world.run('cluster nodes')).toContain('connected, cordoned');
    expect(await world.run('cluster status')).toMatch(/^nodes +1 connected \(1 cordoned\)$/m);
    expect(await world.json('cluster nodes')).toMatchObject([{ cordoned: true, drain: null }]);
    expect(await world.run('cluster uncordon alpha')).toBe('node alpha gets instances again\n');
    expect(await world.run('cluster nodes')).not.toContain('cordoned');
    expect(world.audit[0]).toMatchObject({ subject: 'cluster cordon alpha', result: 'ok' });
  });

  it.each(['cordon', 'uncordon', 'drain', 'forget'])(
    'cluster %s suggests the node that was meant',
    async (name) => {
      expect(await world.run(`cluster ${name} alpah`)).toBe(
        'error: there is no node "alpah". Did you mean alpha?\n',
      );
    },
  );

  it('complete the names of nodes', async () => {
    expect(await world.commands.complete('cluster drain al')).toEqual([['alpha '], 'al']);
  });
});

it('cluster status names a record that cannot be read; why says what it means, and delete removes it', async () => {
  const [record] = await world.untilOnline('hello', 1);
  const id = record?.id ?? '';
  const { store } = world.plane;
  await store.transact([{ do: 'put', key: instanceKey(id), value: { ...record, ramMB: 'much' } }]);
  await world.plane.master.state.instances.until(await store.barrier());
  const problem = `ramMB: must be a number`;
  expect(await world.run('cluster status')).toMatch(
    new RegExp(`^instances/${id} +Broken record +it cannot be read and is set aside: ${problem}`, 'm'),
  );
  expect(await world.json('cluster status')).toMatchObject({
    unreadableRecords: [{ key: `instances/${id}`, problem }],
  });
  expect(await world.run(`instance why ${id}`)).toContain(`${id} (hello) has a record that cannot be read`);
  expect(await world.run(`instance stop ${id}`)).toContain(`the record of instance ${id} cannot be read`);
  expect(await world.run('config why hello')).toContain('counts all the same');
  expect(await world.run(`instance delete ${id}`)).toBe(`instance ${id} is being removed\n`);
  await world.untilOnline('hello', 1);
  expect(await world.run('cluster status')).not.toContain('cannot be read');
});

describe('cluster why', () => {
  it('says in one sentence that a node is well, and what it holds', async () => {
    const [record] = await world.untilOnline('hello', 1);
    const text = await world.run('cluster why alpha');
    expect(text).toMatch(/^alpha is connected and holds 1 instance, which is as wanted\.$/m);
    expect(text).toMatch(/^ {2}condition +connected for /m);
    expect(text).toMatch(new RegExp(`^ {2}${record?.id} +hello +ONLINE `, 'm'));
    expect(await world.json('cluster why alpha')).toMatchObject({ nodeId: 'alpha', isSettled: true });
  });

  it('says how to call off a cordon, and which node was meant', async () => {
    await world.run('cluster cordon alpha');
    expect(await world.run('cluster why alpha')).toContain(
      '`cluster uncordon alpha` gives it instances again.',
    );
    expect(await world.run('cluster why alpah')).toBe(
      'error: there is no node "alpah". Did you mean alpha?\n',
    );
  });
});

describe('cluster drain', () => {
  it('says what it waits for, and cluster status goes on saying it', async () => {
    const id = await report(2);
    await world.plane.addNode('beta');
    expect(await world.run('cluster drain alpha --deadline 5m')).toMatch(
      /^node alpha is being drained: 1 instance left; players are waited for, 5 min at most\n {2}.*\n"cluster status" shows how it goes; "cluster uncordon" calls it off\.\n$/,
    );
    await until(async () =>
      expect(await world.run('cluster status')).toContain(`  waiting for 2 players on ${id}, 5 min left`),
    );
    expect(await world.run('cluster nodes')).toContain('connected, draining');
    expect(await world.run('cluster drain alpha --now')).toContain('players are not waited for');
    await until(async () => {
      const status = await world.run('cluster status');
      expect(status).toContain('node alpha is drained: it can be stopped');
      expect(status).toMatch(/^nodes +2 connected \(1 drained\)$/m);
    });
    expect(await world.json('cluster drain alpha')).toMatchObject({
      nodeId: 'alpha',
      drain: { isDrained: true, left: 0, waitingFor: [] },
    });
    expect(world.plane.describe()).toEqual(['hello ONLINE - beta:-']);
  });

  it.each([
    ['--deadline soon', /It must be a time such as 90s, 10m or 2h, 30d at most/],
    ['--deadline 31d', /30d at most/],
    ['--now --deadline 5m', /cannot be used with/],
  ])('refuses %s', async (options, message) => {
    expect(await world.run(`cluster drain alpha ${options}`)).toMatch(message);
    expect(world.plane.master.term?.controllers.drains.progressOf('alpha')).toBeUndefined();
  });
});

describe('cluster token create', () => {
  it.each<[string, number | null, string]>([
    ['', 1, 'for 1 node.'],
    [' --uses 3', 3, 'for 3 nodes.'],
    [' --uses any', null, 'for any number of nodes.'],
  ])(
    'makes a token for as many nodes as were asked for, by default one: %s',
    async (options, maxUses, said) => {
      expect(await world.json(`cluster token create${options}`)).toMatchObject({ maxUses });
      expect(await world.run(`cluster token create${options}`)).toContain(said);
    },
  );

  it('makes a token that never expires', async () => {
    expect(await world.json('cluster token create --expires never')).toMatchObject({ expiresAt: null });
    expect(await world.run('cluster token list')).toMatch(/ never +0 of 1 /);
  });

  it.each(['0', '1.5', 'all', '100001'])('refuses --uses %s', async (uses) => {
    expect(await world.run(`cluster token create --uses ${uses}`)).toContain(
      'It must be a whole number from 1 to 100000, or any.',
    );
  });
});

describe('cluster forget', () => {
  it.each([
    ['', true, 'Join token abcdefabcdef is revoked with it; other nodes that joined with it stay'],
    [
      ' --keep-token',
      false,
      'It can join again with join token abcdefabcdef, until "cluster token revoke abc',
    ],
  ])('says what becomes of the token that the node came with: forget%s', async (options, isRevoked, said) => {
    await world.untilOnline('hello', 1);
    await world.plane.addNode('beta');
    world.usableToken = 'abcdefabcdef';
    await until(() => expect(world.plane.master.state.nodes.get('beta')).toBeDefined());
    expect(await world.json(`cluster forget beta --force${options}`)).toEqual({
      nodeId: 'beta',
      instances: [],
      statics: [],
      joinToken: { id: 'abcdefabcdef', isRevoked },
    });
    expect(await world.run(`cluster forget alpha --force${options}`)).toContain(said);
  });

  it('is refused while the node is connected, and names what goes when it is forced', async () => {
    const id = await report(0);
    expect(await world.run('cluster forget alpha')).toBe(
      'error: node alpha is connected: drain it ("cluster drain alpha") and end Drover there first, or use --force\n',
    );
    expect(await world.run('cluster forget alpha --force')).toBe(
      `node alpha is forgotten, with 1 instance (${id})\nWhat runs there goes on until Drover is ended there with Ctrl-C.\n`,
    );
  });
});
