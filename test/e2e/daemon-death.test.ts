/** `kill -9` of the daemon, of the owner, and of both: nothing lost, nothing doubled. */
import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { readLastLines } from '../../src/logs/tail.js';
import type { InstanceInfo } from '../../src/model/instance.js';
import { openStore } from '../../src/store/lmdb/open.js';
import { DaemonWorld, failedOf } from '../support/daemon/daemon.js';
import { kill } from '../support/daemon/root-processes.js';
import { drawn } from '../support/drawn.js';
import { until } from '../support/until.js';

let world: DaemonWorld;
beforeEach(async () => {
  world = await DaemonWorld.create();
});
afterEach(({ task }) => world.finish(failedOf(task)));

/** Each line costs a fork. */
const COUNTING = 'i=0; while :; do i=$((i+1)); echo "line $i"; sleep 0.1; done';

const pidsOf = (instances: readonly InstanceInfo[]) =>
  instances.map(({ id, processPid }) => `${id} ${processPid}`);

async function lineCount(id: string): Promise<number> {
  return (await readLastLines(join(world.paths.instanceLogs, id), 1)).totalLines;
}

async function killOwner(): Promise<void> {
  // A child that the owner has forked looks like the owner until it runs its program.
  const [owner = 0] = await until(async () => {
    const owners = await world.processes.owners();
    expect(owners).toHaveLength(1);
    return owners;
  });
  kill(owner);
}

it('leaves instances and their logs alone when the daemon is killed, and adopts them at the next start', async () => {
  world.configure('counting', { command: COUNTING, minimumServiceCount: 2 });
  await world.start();
  const before = await world.untilOnline('counting', 2);
  await world.kill();
  await Promise.all(
    before.map(async ({ id }) => {
      const count = await lineCount(id);
      await until(async () => expect(await lineCount(id)).toBeGreaterThan(count + 5));
    }),
  );
  await world.start();
  expect(pidsOf(await world.untilOnline('counting', 2))).toEqual(pidsOf(before));
  for (const { id, restarts } of await world.api.instances()) {
    expect(restarts).toBe(0);
    const lines = await world.api.logs(id);
    expect(lines).toEqual(lines.map((_, index) => `line ${index + 1}`));
  }
});

it.each(['master', 'node'])(
  'ends when another process opens its %s store, and leaves the instances alone',
  async (name) => {
    world.configure('counting', { command: COUNTING });
    await world.start();
    const before = await world.untilOnline('counting', 1);
    const other = await openStore({ directory: join(world.paths.store, name) });
    expect(await world.daemon.ended).toEqual({ code: 1, signal: null });
    expect(world.daemon.stderr).toBe(
      `drover: another Drover has opened the store ${join(world.paths.store, name, 'store.mdb')}; ` +
        'this one writes nothing any more; instances go on under the other one\n',
    );
    await other.close();
    await world.start();
    expect(pidsOf(await world.untilOnline('counting', 1))).toEqual(pidsOf(before));
  },
);

it('keeps what it runs when the master has an older store than before, until it is told to take that', async () => {
  world.configure('counting', { command: COUNTING });
  await world.start();
  const before = await world.untilOnline('counting', 1);
  const running = async (): Promise<string[]> =>
    (await world.processes.marked())
      .filter(({ isLeader }) => isLeader)
      .map((one) => `${one.instanceId} ${one.pid}`);
  await world.kill('SIGTERM');
  await rename(join(world.paths.store, 'master'), join(world.root, 'lost'));
  await world.start();
  await until(() =>
    expect(world.daemon.stdout).toMatch(/has seen revision \d+ of this master's store, which is older now/),
  );
  expect(await running()).toEqual(pidsOf(before));
  await world.kill('SIGTERM');

  await world.start({ parameters: ['--accept-older'] });
  const after = await world.untilOnline('counting', 1);
  expect(after.map(({ id }) => id)).not.toEqual(before.map(({ id }) => id));
  await until(async () => expect(await running()).toEqual(pidsOf(after)));
  await world.restart('SIGTERM');
  expect(pidsOf(await world.untilOnline('counting', 1))).toEqual(pidsOf(after));
});

it('replaces instances in place when their owner is killed, with and without the daemon', async () => {
  world.configure('counting', { command: COUNTING, minimumServiceCount: 3 });
  await world.start();
  const first = await world.untilOnline('counting', 3);
  await killOwner();
  const second = await untilReplaced(first);
  await killOwner();
  await world.kill();
  await world.start();
  await untilReplaced(second);
});

/** The same instances with other processes. */
async function untilReplaced(before: readonly InstanceInfo[]): Promise<InstanceInfo[]> {
  return await until(async () => {
    const after = await world.untilOnline('counting', before.length);
    expect(after.map(({ id }) => id)).toEqual(before.map(({ id }) => id));
    const old = new Set(before.map(({ processPid }) => processPid));
    expect(after.filter(({ processPid }) => old.has(processPid))).toEqual([]);
    return after;
  });
}

it('never starts a half-installed working directory, whenever daemon and owner are killed', async () => {
  const files = Array.from({ length: 300 }, (_, index) => [`d${index % 20}/f${index}`, `content ${index}`]);
  world.template('group', 'large', Object.fromEntries(files));
  const configure = (minimumServiceCount: number): void =>
    world.configure('large', {
      command: 'echo "files: $(find . -type f | wc -l)"; exec sleep 1000',
      templateInstallationConfig: { allOf: [{ group: 'group', name: 'large' }] },
      minimumServiceCount,
    });
  const chance = drawn('half-installed');
  const moments = Array.from({ length: 4 }, () => chance.between(100, 900));
  for (const [round, moment] of moments.entries()) {
    configure(2 * (round + 1));
    world.spawn();
    // The moment of the fault, not a wait for something.
    await new Promise((resolve) => setTimeout(resolve, moment));
    if (round % 2 === 1) for (const pid of await world.processes.owners()) kill(pid);
    await world.kill();
  }
  await world.start();
  for (const { id } of await world.untilOnline('large', 2 * moments.length)) {
    await world.untilLogged(id, /^files: /);
    expect(new Set(await world.api.logs(id))).toEqual(new Set(['files: 300']));
  }
});

it('starts on records that it cannot read, leaves their processes alone, and manages all others', async () => {
  world.configure('counting', { command: COUNTING, minimumServiceCount: 3 });
  await world.start();
  const [bad, other, third] = await world.untilOnline('counting', 3);
  if (bad === undefined || other === undefined || third === undefined) expect.fail('three were ONLINE');
  await world.kill();
  await spoil('master', `instances/${bad.id}`, (value) => ({ ...value, ramMB: 'much' }));
  await spoil('master', 'nodes/node-a', (value) => ({ ...value, capacity: null }));
  await spoil('node', `handles/${other.id}`, (value) => ({ ...value, streak: 'long' }));
  await spoil('node', `assignments/${third.id}`, () => 'nothing');
  await world.start();
  expect(pidsOf(await world.untilOnline('counting', 2))).toEqual(pidsOf([other, third]));
  const { text } = await world.api.send('GET', '/cluster/status');
  expect(JSON.parse(text)).toMatchObject({
    nodes: { connected: 1 },
    unreadableRecords: [{ key: `instances/${bad.id}` }],
  });
  const count = await lineCount(bad.id);
  await until(async () => expect(await lineCount(bad.id)).toBeGreaterThan(count + 5));
  expect(await world.api.send('DELETE', `/instances/${bad.id}`)).toMatchObject({ status: 200 });
  const after = await world.untilOnline('counting', 3);
  expect(pidsOf(after)).toEqual(expect.arrayContaining(pidsOf([other, third])));
});

/** Changes a value in a store that no daemon has open; resolves with the new one. */
async function spoil(
  store: 'master' | 'node',
  key: string,
  change: (value: object) => unknown,
): Promise<unknown> {
  const opened = await openStore({ directory: join(world.paths.data, 'store', store) });
  const value = change(Object((await opened.get(key))?.value));
  await opened.transact([{ do: 'put', key, value }]);
  await opened.close();
  return value;
}
