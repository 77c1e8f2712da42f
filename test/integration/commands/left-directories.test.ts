/** `instance list --left` and `instance adopt` over a real master, placement and wrapper. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { ConfigurationInput } from '../../../src/model/configuration.js';
import { leftDirectoriesSchema } from '../../../src/model/run/left-directory.js';
import { CommandWorld } from '../../support/control-plane/command-world.js';
import { until } from '../../support/until.js';

const STATIC = { static: true, availablePorts: { min: 4000, max: 4009 } };

let world: CommandWorld;
beforeEach(async () => {
  world = await CommandWorld.create();
});
afterEach(() => world.stop());

const left = async () => leftDirectoriesSchema.parse(await world.json('instance list --left'));
const startsOf = (id: string) => world.node.runtime.starts.filter(({ instanceId }) => instanceId === id);

async function oneOf(name: string, fields: Partial<ConfigurationInput> = STATIC): Promise<string> {
  await world.configure(name, fields);
  await world.run(`instance create ${name}`);
  const [record] = await world.untilOnline(name, 1);
  return record?.id ?? expect.fail('there is no instance');
}

/** Deletes an instance, and waits until its node has forgotten it. */
async function deleted(id: string): Promise<string> {
  await world.run(`instance delete ${id}`);
  await until(async () => {
    expect(world.plane.records().map((record) => record.id)).not.toContain(id);
    expect((await left()).directories.map((directory) => directory.id)).toContain(id);
  });
  return id;
}

it('lists the directory of a static instance that is gone, and not those that are in use', async () => {
  const fresh = await oneOf('fresh', {});
  await world.run(`instance delete ${fresh}`);
  const stopped = await oneOf('stopped');
  await world.run(`instance stop ${stopped}`);
  const id = await deleted(await oneOf('redis'));
  await until(() => expect(world.node.removed).toEqual([fresh]));
  const directory = { id, nodeId: 'alpha', configurationName: 'redis', sizeBytes: 2048 };
  expect(await left()).toEqual({
    directories: [{ ...directory, leftAt: expect.any(Number), port: 4001 }],
    silent: [],
  });
  expect(await world.run('instance list --left')).toMatch(
    new RegExp(`DIRECTORY +NODE +CONFIGURATION +LEFT +SIZE\\s+${id} +alpha +redis +.* ago +2 KB`),
  );
  expect(await world.json('instance list stopped --left')).toEqual({ directories: [], silent: [] });
});

it('knows whose it was after a restart of the node', async () => {
  const id = await deleted(await oneOf('redis'));
  await world.plane.replaceWrapper(world.node);
  await until(async () =>
    expect(await left()).toMatchObject({ directories: [{ id, configurationName: 'redis', port: 4000 }] }),
  );
});

it('adopts it: same id, node and port, the content in force, and nothing is removed', async () => {
  const id = await deleted(await oneOf('redis'));
  await world.configure('redis', { ...STATIC, command: 'better' });
  expect(await world.run(`instance adopt ${id}`)).toBe(
    `adopted ${id} (redis) on node alpha, 127.0.0.1:4000\n`,
  );
  const [record] = await world.untilOnline('redis', 1);
  expect(record).toMatchObject({
    id,
    static: true,
    madeBy: 'client',
    placement: { nodeId: 'alpha', port: 4000 },
    home: { nodeId: 'alpha', port: 4000 },
  });
  expect(startsOf(id).map(({ command }) => command)).toEqual(['run', 'better']);
  expect(world.node.removed).toEqual([]);
  expect(await left()).toEqual({ directories: [], silent: [] });
  await deleted(id);
});

it('adopts one of which nobody knows whose it was, when the configuration is named', async () => {
  await world.configure('redis', STATIC);
  world.node.installs.push('old1aa');
  expect(await left()).toMatchObject({
    directories: [{ id: 'old1aa', configurationName: null, leftAt: null, port: null }],
  });
  expect(await world.run('instance adopt old1aa')).toContain(
    'node alpha does not know which configuration directory old1aa belonged to',
  );
  expect(await world.run('instance adopt old1aa --configuration nothing')).toContain(
    'there is no configuration "nothing"',
  );
  await world.run('instance adopt old1aa --configuration redis');
  expect(await world.untilOnline('redis', 1)).toMatchObject([{ id: 'old1aa' }]);
});

it.each<[string, Partial<ConfigurationInput>, RegExp]>([
  ['is not static any more', { ...STATIC, static: false }, /redis is not static: a start would empty/],
  ['does not fit any more', { ...STATIC, ramMB: 1100 }, /cannot be taken up.*RAM/],
  [
    'may not be on its node',
    { ...STATIC, nodes: ['beta'] },
    /cannot be taken up.*not in the configuration's nodes/,
  ],
])('refuses one whose configuration %s, and makes nothing', async (_what, fields, why) => {
  const id = await deleted(await oneOf('redis'));
  await world.configure('redis', fields);
  expect(await world.run(`instance adopt ${id}`)).toMatch(why);
  expect(world.plane.records()).toEqual([]);
});

it('refuses one whose configuration is gone, what is in use, what is not there, and more than the maximum', async () => {
  const id = await deleted(await oneOf('redis'));
  world.removeFile('redis.json');
  await world.files.reload();
  expect(await world.run(`instance adopt ${id}`)).toContain('there is no configuration "redis"');
  const other = await oneOf('redis', { ...STATIC, maximumServiceCount: 1 });
  expect(await world.run(`instance adopt ${id}`)).toContain('allows 1 (maximumServiceCount)');
  expect(await world.run(`instance adopt ${other}`)).toContain(
    `directory ${other} is in use: it belongs to an instance of redis`,
  );
  expect(await world.run('instance adopt zzzzzz')).toContain('no node has a directory zzzzzz');
  expect(await world.run('instance adopt ../data')).toContain('no node has a directory of that name');
  expect(world.plane.records().map((record) => record.id)).toEqual([other]);
});

it('names a node that is away, and adopts nothing of it', async () => {
  const beta = await world.plane.addNode('beta');
  await world.configure('redis', { ...STATIC, nodes: ['beta'] });
  await world.run('instance create redis');
  const [{ id = '' } = {}] = await world.untilOnline('redis', 1);
  await deleted(id);
  await beta.wrapper.stop();
  await until(async () =>
    expect(await left()).toEqual({
      directories: [],
      silent: [{ nodeId: 'beta', why: expect.stringContaining('beta is not connected') }],
    }),
  );
  expect(await world.run('instance list --left')).toContain('what node beta has is not known: ');
  expect(await world.run(`instance adopt ${id}`)).toContain('node beta did not answer');
  expect(world.plane.records()).toEqual([]);
});
