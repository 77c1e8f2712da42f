/** Rollouts of real servers: a change without a failed request, and changes that are held back. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { ConfigurationInput } from '../../src/model/configuration.js';
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
let first: number;
beforeEach(async () => {
  world = await DaemonWorld.create();
  first = await freePorts(MOST);
});
afterEach(({ task }) => world.finish(failedOf(task)));

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
    await until(async () => {
      const now = await world.api.instances('web');
      expect(now.filter(({ id }) => before.includes(id))).toEqual([]);
    });
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
  await until(async () => {
    const now = await world.api.instances('web');
    expect(now.filter(({ id }) => before.includes(id))).toEqual([]);
    expect(now.map(({ state }) => state)).toEqual(Array(4).fill('ONLINE'));
  });
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
  await until(async () => {
    const now = await world.api.instances('web');
    expect(now.filter((one) => old.includes(one.id))).toEqual([]);
    expect(now.map(({ state }) => state)).toEqual(Array(3).fill('ONLINE'));
  });
});
