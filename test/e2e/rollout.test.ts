/** Rollouts of real servers: a change without a failed request, and changes that are held back. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { ConfigurationInput } from '../../src/model/configuration.js';
import { type ClientRun, runClient } from '../support/client/client-program.js';
import { TemporaryHome } from '../support/client/temporary-home.js';
import { DaemonWorld, failedOf } from '../support/daemon/daemon.js';
import { FollowingProxy } from '../support/daemon/following-proxy.js';
import { freePorts } from '../support/free-ports.js';
import { until } from '../support/until.js';

const MOST = 14;
/** Answers with its version; ready after a moment; asked to end, it answers what it has begun. */
const SERVER = `exec node -e '
const { createServer } = require("node:http");
const server = createServer((request, response) => response.end(process.env.VERSION));
setTimeout(() => server.listen(Number(process.env.PORT), "127.0.0.1"), 100);
process.on("SIGTERM", () => { server.close(() => process.exit(0)); server.closeIdleConnections(); });
'`;

let world: DaemonWorld;
let home: TemporaryHome;
let first: number;
beforeEach(async () => {
  home = new TemporaryHome();
  world = await DaemonWorld.create();
  first = await freePorts(MOST);
});
afterEach(async ({ task }) => {
  home.remove();
  await world.finish(failedOf(task));
});

const drover = (...words: string[]): Promise<ClientRun> =>
  runClient(words, { environment: home.environment, directory: world.root });

function configure(version: string, count: number, fields: Partial<ConfigurationInput> = {}): void {
  const { update, ...others } = fields;
  world.configure('web', {
    command: SERVER,
    ramMB: 256,
    minimumServiceCount: count,
    availablePorts: { min: first, max: first + MOST - 1 },
    environmentVariables: { VERSION: version },
    readiness: { httpGet: { path: '/', port: '%PORT%' }, intervalSeconds: 0.1 },
    update: { strategy: 'rolling', maxSurge: 2, minReadySeconds: 0, progressSeconds: 600, ...update },
    ...others,
  });
}

/** Waits until others stand for these, all ONLINE. */
async function untilReplaced(before: readonly string[]): Promise<void> {
  await until(async () => {
    const now = await world.api.instances('web');
    expect(now.filter(({ id }) => before.includes(id))).toEqual([]);
    expect(now.map(({ state }) => state)).toEqual(before.map(() => 'ONLINE'));
  });
}

const versions = (proxy: FollowingProxy, count: number): Promise<void> =>
  until(async () => {
    expect(await world.api.instances('web')).toHaveLength(count);
    expect(proxy.backends).toHaveLength(count);
  });

/** Waits until the old ones stand alone again, after a change that was bad. */
async function untilHeldBack(old: readonly string[]): Promise<void> {
  await until(async () => {
    const instances = await world.api.instances('web');
    const shown = instances.map(({ id, state }) => `${id} ${state}`).toSorted();
    expect(shown).toEqual(old.map((id) => `${id} ONLINE`).toSorted());
    expect(readFileSync(join(world.root, 'logs', 'drover.log'), 'utf8')).toContain(
      'its content is held back',
    );
  });
}

it('brings a good change through ten servers without a failed request', async () => {
  configure('one', 10);
  await world.start();
  await world.untilOnline('web', 10);
  const proxy = await FollowingProxy.start(world, 'web');
  try {
    await versions(proxy, 10);
    const load = proxy.load();
    await until(() => expect(load.answers.get('one') ?? 0).toBeGreaterThan(50));
    const before = (await world.api.instances('web')).map(({ id }) => id);
    configure('two', 10);
    await untilReplaced(before);
    await versions(proxy, 10);
    const answered = load.answers.get('two') ?? 0;
    await until(() => expect(load.answers.get('two') ?? 0).toBeGreaterThan(answered + 50));
    await load.end();
    expect(load.failures).toEqual([]);
    expect([...load.answers.keys()].toSorted()).toEqual(['one', 'two']);
  } finally {
    await proxy.stop();
  }
});

it('goes on with a rollout when the master was killed in the middle', async () => {
  configure('one', 4);
  await world.start();
  const before = (await world.untilOnline('web', 4)).map(({ id }) => id);
  configure('two', 4);
  await until(async () => {
    const left = (await world.api.instances('web')).filter(({ id }) => before.includes(id));
    expect(left.length).toBeLessThan(4);
  });
  await world.restart();
  await untilReplaced(before);
});

it.each([
  ['ends at once', { command: 'exit 3' }],
  ['is never ready', { command: 'exec sleep 3600' }],
  ['does not fit', { ramMB: 1_000_000 }],
] as const)('holds a change back that %s, and the old servers stay', async (_what, fields) => {
  configure('one', 3);
  await world.start();
  const old = (await world.untilOnline('web', 3)).map(({ id }) => id);
  configure('two', 3, {
    ...fields,
    update: { strategy: 'rolling', maxSurge: 2, minReadySeconds: 0, progressSeconds: 3 },
  });
  await untilHeldBack(old);
  // What is made now is of the last good content, though the file says another one.
  const { id } = await world.api.create('web');
  await until(async () => expect(await world.api.instance(id)).toMatchObject({ state: 'ONLINE' }));
  await world.api.remove(id);
  // The file mended, the change goes through.
  configure('three', 3);
  await untilReplaced(old);
});

it('takes a change back in one command, and leaves the file to the person', async () => {
  configure('one', 3);
  await world.start();
  const before = (await world.untilOnline('web', 3)).map(({ id }) => id);
  configure('two', 3);
  await untilReplaced(before);
  const second = (await world.api.instances('web')).map(({ id }) => id);
  const text = readFileSync(join(world.root, 'configurations', 'web.json'), 'utf8');
  expect(await drover('config', 'rollback', 'web', '--reason', 'the floor is missing')).toMatchObject({
    code: 0,
  });
  await untilReplaced(second);
  const proxy = await FollowingProxy.start(world, 'web');
  try {
    await versions(proxy, 3);
    const load = proxy.load();
    await until(() => expect(load.answers.get('one') ?? 0).toBeGreaterThan(20));
    await load.end();
    expect([...load.answers.keys()]).toEqual(['one']);
  } finally {
    await proxy.stop();
  }
  expect(readFileSync(join(world.root, 'configurations', 'web.json'), 'utf8')).toBe(text);
  const history = await drover('config', 'history', 'web', '-o', 'json');
  expect(JSON.parse(history.stdout)).toMatchObject([
    { number: 2, outcome: 'rolled-back', reason: 'the floor is missing', instances: 0 },
    { number: 1, isInForce: true, instances: 3 },
  ]);
});
