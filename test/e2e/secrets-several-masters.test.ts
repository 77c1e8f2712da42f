/**
 * Secrets of two masters on one etcd: any master sets one, a node gets only what runs there, and the next leader goes on
 * with them. Needs etcd and `npm run build`.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { drover, Member } from '../support/cluster/member.js';
import { failedOf } from '../support/daemon/daemon.js';
import { type EtcdCluster, hasEtcd, startEtcd } from '../support/etcd/etcd-server.js';
import { newPrefix } from '../support/etcd/etcd-world.js';
import { MasterProcess } from '../support/masters/master-process.js';
import { until } from '../support/until.js';

/** Never in one piece in this file, in case something prints the test. */
const CANARY = ['canary', 'etcd', 'Zq81', 'mm'].join('-');
const KEY = encodeURIComponent('db/password');

describe.skipIf(!hasEtcd)('two masters on etcd', () => {
  let data: string;
  let etcd: EtcdCluster;
  let masters: MasterProcess[];
  let members: Member[];
  beforeEach(async () => {
    data = mkdtempSync(join(tmpdir(), 'drover-etcd-data-'));
    etcd = await startEtcd({ places: [{ address: '127.0.0.1', prefix: [], directory: data }] });
    masters = [];
    members = [];
    const settings = { clusterName: 'prod', nodeTimeoutMs: 120_000, maxRamMB: 4096 };
    const options = { endpoints: etcd.endpoints, prefix: newPrefix(), settings };
    for (const nodeId of ['master-a', 'master-b']) {
      const [first] = masters;
      const master = await MasterProcess.create({
        ...options,
        nodeId,
        ...(first !== undefined && { keysOf: first.paths }),
      });
      masters.push(master);
      master.spawn();
      await until(() => master.api.instances());
    }
  });
  afterEach(async ({ task }) => {
    if (failedOf(task).isFailed)
      for (const { output, nodeId } of masters) console.log(`--- ${nodeId}\n${output}`);
    if (failedOf(task).isFailed) for (const { output } of members) console.log(`--- member\n${output}`);
    for (const member of members) await member.finish();
    for (const master of masters) await master.remove();
    await etcd.stop();
    rmSync(data, { recursive: true });
  });

  async function joinNode(nodeId: string, master: MasterProcess): Promise<Member> {
    const [token = ''] = (await drover('token', '--root', master.paths.root, '--uses', '1')).split('\n');
    const member = await Member.create();
    members.push(member);
    await member.join(token, master.clusterAddress, nodeId);
    member.start();
    return member;
  }

  const filesWith = (directory: string, text: string): string[] =>
    readdirSync(directory, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .filter((file) => readFileSync(file).includes(text));

  it('keep a value sealed for all, and give it to the node that needs it, also after the death of the leader', async () => {
    const [a, b] = masters;
    if (a === undefined || b === undefined) throw new Error('no masters');
    const user = await joinNode('far-1', a);
    const other = await joinNode('far-2', a);
    await b.api.putConfiguration('lobby', {
      ...{ name: 'lobby', runtime: 'process', ramMB: 64, cpu: 0, nodes: ['far-1'], minimumServiceCount: 1 },
      command: 'echo "env $DB"; exec sleep 1000',
      environmentVariables: { DB: '%SECRET:db/password%' },
    });
    await b.api.putConfiguration('plain', {
      ...{ name: 'plain', runtime: 'process', ramMB: 64, cpu: 0, nodes: ['far-2'], minimumServiceCount: 1 },
      command: 'exec sleep 1000',
    });
    const id = await until(async () => {
      const [one] = await b.api.instances('lobby');
      expect(one).toMatchObject({ reason: 'secret-missing', restarts: 0 });
      return one?.id ?? '';
    });
    expect((await b.api.send('PUT', `/secrets/${KEY}`, { value: CANARY })).status).toBe(200);
    const cover = (text: string): string => '*'.repeat(text.length);
    await until(async () => expect(await b.api.logs(id)).toEqual([`env ${cover(CANARY)}`]));
    await until(async () => expect(await b.api.instances('plain')).toMatchObject([{ state: 'ONLINE' }]));
    expect(filesWith(user.paths.root, 'secrets/db/password')).not.toEqual([]);
    expect(filesWith(other.paths.root, 'db/password')).toEqual([]);
    const roots = [a, b, user, other].map(({ paths }) => paths.root);
    expect(roots.flatMap((root) => filesWith(root, CANARY))).toEqual([]);
    expect(filesWith(data, 'program-secrets/db/password')).not.toEqual([]);
    expect(filesWith(data, CANARY)).toEqual([]);

    const leader = await a.leader();
    const [dead, survivor] = leader === 'master-a' ? [a, b] : [b, a];
    await dead.process.end('SIGKILL');
    await survivor.untilLed(dead.nodeId);
    const next = `${CANARY}-next`;
    await until(async () =>
      expect((await survivor.api.send('PUT', `/secrets/${KEY}`, { value: next })).status).toBe(200),
    );
    await until(async () =>
      expect(await survivor.api.instance(id)).toMatchObject({ state: 'ONLINE', restarts: 0 }),
    );
    await until(() => survivor.api.lifecycle(id, 'restart'));
    await until(async () => expect((await survivor.api.logs(id)).at(-1)).toBe(`env ${cover(next)}`));
    expect(roots.flatMap((root) => filesWith(root, CANARY))).toEqual([]);
    dead.spawn();
    await until(async () =>
      expect(JSON.parse((await dead.api.send('GET', '/secrets')).text)).toMatchObject([
        { name: 'db/password', users: ['lobby'] },
      ]),
    );
  });
});
