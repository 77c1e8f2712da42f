/** A master that starts while its etcd is away looks after its own instances, and goes on when etcd comes back. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DaemonWorld, failedOf } from '../support/daemon/daemon.js';
import { kill } from '../support/daemon/root-processes.js';
import { type EtcdCluster, hasEtcd, startEtcd } from '../support/etcd/etcd-server.js';
import { newPrefix } from '../support/etcd/etcd-world.js';
import { until } from '../support/until.js';

describe.skipIf(!hasEtcd)('a master that starts while etcd is away', () => {
  let etcd: EtcdCluster;
  let world: DaemonWorld;
  beforeEach(async () => {
    etcd = await startEtcd();
    const store = { kind: 'etcd', endpoints: etcd.endpoints, prefix: newPrefix() };
    world = await DaemonWorld.create({ settings: { store } });
  });
  afterEach(async ({ task }) => {
    await world.finish(failedOf(task));
    await etcd.stop();
  });

  /** The process of each instance, by id. */
  const running = async (): Promise<ReadonlyMap<string, number>> =>
    new Map(
      (await world.processes.marked())
        .filter(({ isLeader }) => isLeader)
        .map(({ instanceId, pid }) => [instanceId, pid]),
    );

  /** What is ONLINE may not have begun its program yet, which shows whose it is. */
  const untilRunning = (count: number): Promise<ReadonlyMap<string, number>> =>
    until(async () => {
      const now = await running();
      expect(now.size).toBe(count);
      return now;
    });

  /** Resolves when each of `ids` has another process than in `before`. */
  const untilReplaced = (
    ids: readonly string[],
    before: ReadonlyMap<string, number>,
  ): Promise<ReadonlyMap<string, number>> =>
    until(async () => {
      const now = await running();
      expect([...now.keys()].sort()).toEqual([...before.keys()].sort());
      for (const id of ids) expect(now.get(id)).not.toBe(before.get(id));
      return now;
    });

  it('takes up what runs and restarts what ends, says what it waits for, and goes on', async () => {
    world.configure('web', { command: 'sleep 1000', minimumServiceCount: 2 });
    await world.start();
    const online = await world.untilOnline('web', 2);
    const [ended = '', kept = ''] = online.map(({ id }) => id);
    const first = await untilRunning(2);
    await etcd.members[0]?.kill();
    await world.kill();

    const waiting = world.spawn();
    for (const [id, pid] of first)
      await until(() => expect(waiting.stdout).toContain(`adopted ${id} (web), pid ${pid}`));
    kill(first.get(ended) ?? 0);
    const second = await untilReplaced([ended], first);
    expect(second.get(kept)).toBe(first.get(kept));
    await until(() =>
      expect(waiting.stdout).toMatch(/the state on etcd \S+ cannot be opened yet: .*; trying on/),
    );
    const ping = await until(() => world.api.send('GET', '/ping'));
    expect(ping.status).toBe(200);
    expect(JSON.parse(ping.text)).toMatchObject({ status: 'ok', nodeId: 'node-a', leader: null });
    for (const [method, path] of [
      ['GET', '/instances'],
      ['POST', '/instances'],
    ] as const)
      await until(async () =>
        expect(await world.api.send(method, path)).toMatchObject({
          status: 503,
          text: expect.stringContaining(`the state on etcd ${etcd.endpoints[0]} cannot be opened yet`),
        }),
      );

    // Its daemon and the owner of its processes end together, while etcd is still away.
    await world.kill();
    for (const pid of await world.processes.owners()) kill(pid);
    world.spawn();
    const third = await untilReplaced([ended, kept], second);

    await etcd.members[0]?.start();
    // The records in etcd say what ran before, until the node has told what runs now.
    await until(async () => {
      const after = await world.untilOnline('web', 2);
      expect(new Map(after.map(({ id, processPid }) => [id, processPid]))).toEqual(third);
    });
    expect(await running()).toEqual(third);
    await until(async () =>
      expect(JSON.parse((await world.api.send('GET', '/ping')).text).leader).toBe('node-a'),
    );
  });

  it('ends at SIGTERM while it waits, and leaves alone what runs', async () => {
    world.configure('web', { command: 'sleep 1000', minimumServiceCount: 1 });
    await world.start();
    await world.untilOnline('web', 1);
    const before = await untilRunning(1);
    await etcd.members[0]?.kill();
    await world.kill();
    const waiting = world.spawn();
    await until(() => expect(waiting.stdout).toContain('cannot be opened yet'));
    expect(await waiting.end('SIGTERM')).toEqual({ code: 0, signal: null });
    expect(await running()).toEqual(before);
    await etcd.members[0]?.start();
    await world.start();
    await world.untilOnline('web', 1);
    expect(await running()).toEqual(before);
  });
});
