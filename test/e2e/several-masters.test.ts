/**
 * Three masters on one etcd, and two nodes: whichever way the leader ends or stalls, another one goes on with all that
 * was acknowledged, and no instance notices.
 */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { drover, Member } from '../support/cluster/member.js';
import { failedOf } from '../support/daemon/daemon.js';
import { type EtcdCluster, hasEtcd, startEtcd } from '../support/etcd/etcd-server.js';
import { newPrefix } from '../support/etcd/etcd-world.js';
import { AcknowledgedKeys } from '../support/masters/acknowledged-keys.js';
import { MasterProcess } from '../support/masters/master-process.js';
import { until } from '../support/until.js';

/** Longer than any lease: the woken leader is an old one. */
const STOPPED_MS = 10_000;
const SETTINGS = { clusterName: 'prod', nodeTimeoutMs: 120_000, maxRamMB: 4096 };

describe.skipIf(!hasEtcd)('three masters on etcd', () => {
  let etcd: EtcdCluster;
  let masters: MasterProcess[];
  let members: Member[];
  let writer: AcknowledgedKeys;
  beforeEach(async () => {
    etcd = await startEtcd();
    const options = { endpoints: etcd.endpoints, prefix: newPrefix(), settings: SETTINGS };
    const first = await MasterProcess.create({ ...options, nodeId: 'master-a' });
    masters = [first];
    members = [];
    first.spawn();
    await until(() => first.api.instances());
    for (const nodeId of ['master-b', 'master-c']) {
      const master = await MasterProcess.create({ ...options, nodeId, keysOf: first.paths });
      masters.push(master);
      master.spawn();
      await until(() => master.api.instances());
    }
    writer = new AcknowledgedKeys('any', () => running().map(({ api }) => api));
  });
  afterEach(async ({ task }) => {
    if (failedOf(task).isFailed)
      for (const { output, nodeId } of masters) console.log(`--- ${nodeId}\n${output}`);
    if (failedOf(task).isFailed) for (const { output } of members) console.log(`--- member\n${output}`);
    for (const member of members) await member.finish();
    for (const master of masters) await master.remove();
    await etcd.stop();
  });

  const running = (): MasterProcess[] => masters.filter(({ process }) => process.isRunning);
  const named = (nodeId: string): MasterProcess =>
    masters.find((master) => master.nodeId === nodeId) ?? expect.fail(`there is no master ${nodeId}`);

  /** The one that all running masters say leads. A busy machine may bring another one by itself at any time. */
  const agreed = (former?: string): Promise<MasterProcess> =>
    until(async () => {
      const [leader, ...others] = await Promise.all(running().map((master) => master.untilLed(former)));
      expect(others).toEqual(others.map(() => leader));
      return named(leader ?? '');
    });

  async function join(nodeId: string, master: MasterProcess): Promise<void> {
    const [token = ''] = (await drover('token', '--root', master.paths.root, '--uses', '1')).split('\n');
    const member = await Member.create();
    members.push(member);
    await member.join(token, master.clusterAddress, nodeId);
    member.start();
  }

  /** The instances, as any of the running masters tells them. */
  async function instances(): Promise<unknown[]> {
    const [master] = running();
    const found = await master?.api.instances('web');
    return (found ?? [])
      .map(({ id, processPid, state, restarts }) => ({ id, processPid, state, restarts }))
      .toSorted((a, b) => (a.id < b.id ? -1 : 1));
  }

  it('go on after a kill, a SIGTERM and a stall of the leader, and no instance notices', async () => {
    const first = await agreed();
    await join('far-1', named('master-a'));
    await join('far-2', named('master-a'));
    const web = {
      name: 'web',
      command: 'sleep 1000',
      runtime: 'process',
      ramMB: 64,
      cpu: 0,
      nodes: ['far-1', 'far-2'],
    };
    await masters[1]?.api.putConfiguration('web', { ...web, minimumServiceCount: 2 });
    const before = await until(async () => {
      const found = await instances();
      expect(found).toMatchObject(Array(2).fill({ state: 'ONLINE', restarts: 0 }));
      return found;
    });
    await writer.write();

    // kill -9.
    await first.process.end('SIGKILL');
    await writer.write();
    const second = await agreed(first.nodeId);
    await writer.check(second.api);
    first.spawn();

    // SIGTERM hands over.
    const ended = await agreed();
    expect(await ended.process.end('SIGTERM')).toEqual({ code: 0, signal: null });
    await writer.write();
    await writer.check((await agreed(ended.nodeId)).api);
    ended.spawn();

    // A leader that sleeps and wakes: what it is asked in its sleep takes effect as the new leader's, or not at all.
    const third = await agreed();
    third.process.signal('SIGSTOP');
    const others = running().filter((master) => master !== third);
    const awake = new AcknowledgedKeys('awake', () => others.map(({ api }) => api));
    await awake.write();
    const fourth = named(
      await until(() => others[0]?.untilLed(third.nodeId) ?? expect.fail('no other master')),
    );
    const asleep = new AcknowledgedKeys('asleep', () => [third.api]);
    const late = asleep.write();
    await until(async () => {
      const { text } = await fourth.api.send('GET', '/cluster/status');
      expect(Date.now() - JSON.parse(text).leader.since).toBeGreaterThan(STOPPED_MS);
    });
    third.process.signal('SIGCONT');
    await late;
    const last = await agreed();
    for (const keys of [writer, awake, asleep]) await keys.check(last.api);
    for (const keys of [writer, awake, asleep]) await keys.check(third.api);

    await until(async () => expect(await instances()).toEqual(before));
    for (const { output } of [...masters, ...members]) expect(output).not.toContain('Warning');
  });
});
