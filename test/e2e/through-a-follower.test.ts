/**
 * A client that talks to a master which does not lead, over the end of the one that does: writes, uploads, logs, the
 * change stream and terminals. The masters but the first are made by `drover join --as-master`. Needs `npm run build`.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { SocketClient } from '../support/api/socket-client.js';
import { ClientProcess } from '../support/client/client-process.js';
import { drover, Member } from '../support/cluster/member.js';
import { failedOf } from '../support/daemon/daemon.js';
import { type EtcdCluster, hasEtcd, startEtcd } from '../support/etcd/etcd-server.js';
import { newPrefix } from '../support/etcd/etcd-world.js';
import { MasterProcess } from '../support/masters/master-process.js';
import { zipOf } from '../support/templates/zip-bytes.js';
import { until } from '../support/until.js';

const SETTINGS = { nodeTimeoutMs: 120_000, maxRamMB: 4096 };
/** Counts its lines, so that a lost one shows. */
const COUNT = 'n=0; while sleep 0.2; do n=$((n+1)); echo "line $n"; done';
const UPLOADED_FILES = 300;

describe.skipIf(!hasEtcd)('through a master that does not lead', () => {
  let etcd: EtcdCluster;
  const masters: MasterProcess[] = [];
  const clients: ClientProcess[] = [];
  let member: Member;
  beforeEach(async () => {
    etcd = await startEtcd();
    const options = { endpoints: etcd.endpoints, prefix: newPrefix(), settings: SETTINGS };
    const first = await MasterProcess.create({ ...options, nodeId: 'master-a' });
    masters.push(first);
    first.spawn();
    await until(() => first.api.instances());
    for (const nodeId of ['master-b', 'master-c']) {
      const master = await MasterProcess.join(nodeId, first, SETTINGS);
      masters.push(master);
      master.spawn();
      await until(() => master.api.instances());
    }
    member = await Member.create();
  });
  afterEach(async ({ task }) => {
    if (failedOf(task).isFailed) {
      for (const { output, nodeId } of masters) console.log(`--- ${nodeId}\n${output}`);
      console.log(`--- member\n${member.output}`);
      for (const { out, err } of clients) console.log(`--- client\n${out}\n${err}`);
    }
    for (const { child } of clients.splice(0)) child.kill('SIGKILL');
    await member.finish();
    for (const master of masters.splice(0)) await master.remove();
    await etcd.stop();
  });

  const api = ({ api }: MasterProcess): MasterProcess['api'] => api;
  const urlOf = ({ paths }: MasterProcess): string =>
    `http://127.0.0.1:${JSON.parse(readFileSync(paths.configFile, 'utf8')).apiPort}/api`;
  const keyOf = ({ paths }: MasterProcess): string => readFileSync(paths.adminKey, 'utf8').trim();

  /** The client as somebody runs it on a machine of their own, with the address of one master. */
  function run(master: MasterProcess, ...words: readonly string[]): ClientProcess {
    const environment = { DROVER_URL: urlOf(master), DROVER_KEY_FILE: master.paths.adminKey };
    const client = new ClientProcess(words, { directory: '/', environment });
    clients.push(client);
    return client;
  }

  /** Throws unless the lines are 1, 2, 3 and so on. Answers how many. */
  function counted({ lines }: ClientProcess): number {
    expect(lines).toEqual(lines.map((_, index) => `line ${index + 1}`));
    return lines.length;
  }

  async function upload(master: MasterProcess, name: string): Promise<number> {
    const files = Array.from({ length: UPLOADED_FILES }, (_, n) => ({
      name: `f${n}`,
      content: 'x'.repeat(4000),
    }));
    const answer = await fetch(`${urlOf(master)}/templates/global/${name}/import`, {
      method: 'POST',
      headers: { authorization: `Bearer ${keyOf(master)}`, 'content-type': 'application/zip' },
      body: new Uint8Array(zipOf(files)),
    });
    await answer.text();
    return answer.status;
  }

  it('a client loses nothing when the leader is killed', async () => {
    const [first, ...joined] = masters;
    const leads = await first?.untilLed();
    // On a busy machine that may be another one than the first by now.
    const leader = masters.find(({ nodeId }) => nodeId === leads);
    const follower = joined.find((master) => master !== leader);
    if (leader === undefined || follower === undefined) throw new Error('there are masters');
    // The authority and the secret of instances' keys are sealed in the state; what is here opens them.
    const kept = readdirSync(follower.paths.cluster).filter((name) => name !== 'masters.json');
    expect(kept.toSorted()).toEqual(['cluster.key', 'node-secrets.key', 'server.json']);
    const [token = ''] = (await drover('token', '--root', follower.paths.root)).split('\n');
    await member.join(token, follower.clusterAddress, 'far');
    member.start();
    await api(follower).putConfiguration('count', {
      ...{ name: 'count', command: COUNT, runtime: 'process', ramMB: 64, cpu: 0 },
      ...{ nodes: ['far'], minimumServiceCount: 1 },
    });
    const [instance] = await until(async () => {
      const found = await api(follower).instances('count');
      expect(found).toMatchObject([{ state: 'ONLINE' }]);
      return found;
    });
    const id = instance?.id ?? '';
    expect(await upload(follower, 'before')).toBe(200);
    const logs = run(follower, 'logs', '-f', id);
    const list = run(follower, 'instance', 'list', '--watch', '-o', 'name');
    await until(() => expect([counted(logs) > 2, list.lines]).toEqual([true, [id]]));
    const open = (): Promise<SocketClient> =>
      SocketClient.open(`${urlOf(follower)}/instances/${id}/attach?columns=80&rows=24`, {
        token: keyOf(follower),
      });
    const terminal = await open();
    await until(() => expect(terminal.binary).toContain('line'));

    await leader.process.end('SIGKILL');
    expect(await terminal.closed).toEqual({
      code: 1001,
      reason: 'the leader of the masters has gone: connect again',
    });
    const linesThen = counted(logs);
    await until(async () => {
      const { status } = await api(follower).send('POST', '/keys', { label: 'late', scope: 'READ' });
      expect([201, 409]).toContain(status);
    });
    await follower.untilLed(leader.nodeId);
    expect(await upload(follower, 'after')).toBe(200);
    await until(() => expect(counted(logs)).toBeGreaterThan(linesThen + 5));
    await api(follower).putConfiguration('second', {
      ...{ name: 'second', command: 'sleep 1000', runtime: 'process', ramMB: 64, cpu: 0 },
      ...{ nodes: ['far'], minimumServiceCount: 1 },
    });
    await until(async () => {
      const [second] = await api(follower).instances('second');
      expect(list.lines).toContain(second?.id);
    });
    const again = await until(open);
    await until(() => expect(again.binary).toContain('line'));
    again.websocket.terminate();
    const [same] = await api(follower).instances('count');
    expect(same).toMatchObject({ id, processPid: instance?.processPid, restarts: 0 });
  });

  it('a job runs once for each key, asked of two of them, and its log and exit code come through', async () => {
    const leads = await masters[0]?.untilLed();
    const followers = masters.filter(({ nodeId }) => nodeId !== leads);
    const [first] = followers;
    if (first === undefined) throw new Error('there are followers');
    await api(first).putConfiguration('report', {
      ...{ name: 'report', runtime: 'process', ramMB: 64, cpu: 0, minimumServiceCount: 0 },
      ...{ command: 'echo "for $DAY"; exit 3', restartPolicy: 'never', job: { parameters: { DAY: {} } } },
    });
    const ask = (master: MasterProcess, key: string, day = 'monday'): ClientProcess =>
      run(master, 'run', 'report', '--param', `DAY=${day}`, '--key', key, '--wait');
    const asked = followers.map((master) => ask(master, 'one'));
    for (const client of [...asked, ask(first, 'one')]) {
      expect(await client.ended).toEqual({ code: 3, signal: null });
      expect(client.lines).toContain('for monday');
    }
    expect(await api(first).instances('report')).toHaveLength(1);
    const other = ask(first, 'two', 'friday');
    expect(await other.ended).toEqual({ code: 3, signal: null });
    expect(other.lines).toContain('for friday');
    const refused = ask(first, 'one', 'friday');
    expect((await refused.ended).code).not.toBe(3);
    expect(refused.err).toContain('with other parameters');
    expect(await api(first).instances('report')).toHaveLength(2);
  });
});
