/** A master that starts to follow ends by SIGTERM in every phase of its start, also when leader and etcd go meanwhile. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { SystemClock } from '../../src/loop/system-clock.js';
import { EtcdClient } from '../../src/store/etcd/wire/client.js';
import { failedOf } from '../support/daemon/daemon.js';
import { type EtcdCluster, hasEtcd, startEtcd } from '../support/etcd/etcd-server.js';
import { newPrefix } from '../support/etcd/etcd-world.js';
import { MasterProcess } from '../support/masters/master-process.js';
import { until } from '../support/until.js';

/** How long the end may take. The limit of the start is 5 s; a busy machine gets more. */
const END_MS = 10_000;
const FOLLOWS = /this master follows the state/;

describe.skipIf(!hasEtcd)('a master that starts to follow', () => {
  let etcd: EtcdCluster;
  let prefix: string;
  let leader: MasterProcess;
  let follower: MasterProcess;

  beforeEach(async () => {
    etcd = await startEtcd();
    prefix = newPrefix();
    const options = { endpoints: etcd.endpoints, prefix };
    leader = await MasterProcess.create({ ...options, nodeId: 'master-a' });
    leader.spawn();
    await until(() => leader.api.instances());
    follower = await MasterProcess.create({ ...options, nodeId: 'master-b', keysOf: leader.paths });
    follower.spawn();
    await until(() => follower.api.instances());
    await follower.process.end('SIGTERM');
  });

  afterEach(async ({ task }) => {
    if (failedOf(task).isFailed) for (const { output } of [leader, follower]) console.log(output);
    for (const master of [follower, leader]) await master.remove();
    await etcd.stop();
  });

  const endsSoon = async (): Promise<void> => {
    const { process } = follower;
    const late = sleep(END_MS, 'still runs', { ref: false });
    expect(await Promise.race([process.end('SIGTERM'), late])).toEqual({ code: 0, signal: null });
  };

  it.each([
    ['it follows', async () => expect(follower.process.stdout).toMatch(FOLLOWS)],
    ['it answers', async () => expect((await follower.api.send('GET', '/metrics')).status).toBe(200)],
  ])('ends when leader and etcd go once %s', async (_phase, isReached) => {
    follower.spawn();
    await until(isReached);
    const gone = Promise.all([etcd.members[0]?.kill(), leader.process.end('SIGTERM')]);
    await until(() =>
      expect(follower.process.stdout).toMatch(
        /lease of this master was not renewed|cannot be|is not heard of/,
      ),
    );
    await endsSoon();
    await gone;
    await etcd.members[0]?.start();
  });

  it('ends while it waits for a leader that never comes, and when etcd goes then', async () => {
    await leader.process.end('SIGTERM');
    const client = new EtcdClient({ endpoints: etcd.endpoints, tls: {}, clock: new SystemClock() });
    const value = Buffer.from('not of Drover');
    await client.transact({
      comparisons: [],
      changes: [{ do: 'put', key: `${prefix}/leader`, value }],
      otherwiseRead: [],
    });
    client.close();
    for (const isEtcdGone of [false, true]) {
      follower.spawn();
      await until(async () => expect((await follower.api.send('GET', '/metrics')).status).toBe(200));
      if (isEtcdGone) await etcd.members[0]?.kill();
      await endsSoon();
    }
  });

  it('ends before it has seen its state, and when etcd stands still', async () => {
    process.kill(etcd.members[0]?.pid ?? 0, 'SIGSTOP');
    try {
      follower.spawn();
      await until(async () => expect((await follower.api.send('GET', '/ping')).status).toBe(200));
      await endsSoon();
    } finally {
      process.kill(etcd.members[0]?.pid ?? 0, 'SIGCONT');
    }
  });

  it('refuses no connection and names the leader from the first answer on', async () => {
    follower.spawn();
    const leaders: unknown[] = [];
    await until(async () => expect((await follower.api.send('GET', '/ping')).status).toBe(200));
    while (leaders.at(-1) !== 'master-a' || !/master-b/.test(follower.process.stdout) || leaders.length < 100)
      leaders.push(JSON.parse((await follower.api.send('GET', '/ping')).text).leader);
    const [first] = leaders.flatMap((name, at) => (name === null ? [] : [at]));
    expect(leaders.slice(first)).toEqual(leaders.slice(first).map(() => 'master-a'));
  });
});
