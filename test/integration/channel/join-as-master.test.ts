/** `drover join --as-master`: who may become a master, and what that leaves in its directory. */
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { clusterKeyText, generateClusterKey } from '../../../src/channel/trust/cluster-key.js';
import type { MasterHandover } from '../../../src/channel/trust/master-handover.js';
import { joinCluster } from '../../../src/cli/join-command.js';
import { loadMainConfiguration } from '../../../src/node/main-configuration.js';
import { prepareRoot } from '../../../src/node/root.js';
import { SecretDirectory } from '../../../src/node/secret-files.js';
import { nodeKey } from '../../../src/store/keys.js';
import { ClusterWorld } from '../../support/cluster/cluster-world.js';
import { FakeClock } from '../../support/fake-clock.js';

const HANDOVER: MasterHandover = {
  clusterName: 'test',
  nodeTimeoutMs: 7000,
  store: {
    kind: 'etcd',
    endpoints: ['https://10.0.0.1:2379', 'https://127.0.0.1:2379'],
    ca: '/etc/etcd/ca.pem',
    user: 'drover',
    passwordFile: 'secret.txt',
    prefix: '/drover/test',
  },
  files: { ca: 'PEM of the authority', passwordFile: 'password of etcd' },
  clusterKey: clusterKeyText(generateClusterKey()),
  adminKey: 'key of the operator',
};

let world: ClusterWorld;
let parent: string;
let root: string;

beforeEach(async () => {
  parent = mkdtempSync(join(tmpdir(), 'drover-join-'));
  root = join(parent, 'node');
  await begin(HANDOVER);
});

afterEach(async () => {
  await world.stop();
  rmSync(parent, { recursive: true, force: true });
});

async function begin(handover?: MasterHandover): Promise<void> {
  world = new ClusterWorld(new FakeClock(), handover);
  await world.start();
}

const run = (token: string, nodeId = 'm2'): Promise<string> =>
  joinCluster(root, token, { master: `127.0.0.1:${world.port}`, nodeId, asMaster: true });

const inRoot = (name: string): string => readFileSync(join(root, name), 'utf8');

describe('a node that becomes a master', () => {
  it('gets the settings and the secrets, each readable by its user alone', async () => {
    const said = await run(await world.token({ asMaster: true, maxUses: 1 }));
    expect(said).toContain('makes this node m2, at 127.0.0.1, a master of the cluster at 127.0.0.1:');
    expect(said).toContain(
      'The state is at https://127.0.0.1:2379, which on another machine is another etcd',
    );
    expect(await loadMainConfiguration(join(root, 'config.json'))).toMatchObject({
      isMasterNode: true,
      nodeId: 'm2',
      clusterName: 'test',
      nodeTimeoutMs: 7000,
      store: {
        ...HANDOVER.store,
        ca: 'data/cluster/etcd-ca.pem',
        passwordFile: 'data/cluster/etcd-password',
      },
    });
    expect(inRoot('data/cluster/etcd-ca.pem')).toBe(HANDOVER.files.ca);
    expect(inRoot('data/cluster/etcd-password')).toBe(HANDOVER.files.passwordFile);
    expect(inRoot('data/cluster/cluster.key')).toBe(HANDOVER.clusterKey);
    expect(inRoot('data/admin.key')).toBe(`${HANDOVER.adminKey}\n`);
    for (const name of ['cluster/cluster.key', 'cluster/etcd-password', 'cluster/etcd-ca.pem', 'admin.key'])
      expect(statSync(join(root, 'data', name)).mode & 0o777).toBe(0o600);
    expect(inRoot('config.json')).not.toContain('password of etcd');
    expect(world.audit).toMatchObject([{ action: 'join as master', subject: 'm2', result: 'ok' }]);
    const said2 = world.said.join('\n');
    expect(said2).not.toContain(HANDOVER.clusterKey.trim());
  });

  it('says what it is a master of when it is to join once more, and changes nothing', async () => {
    await run(await world.token({ asMaster: true }));
    const before = inRoot('config.json');
    const token = await world.token({ asMaster: true, maxUses: 1 });
    await expect(run(token)).rejects.toThrow(
      `${root} is master m2 of cluster test already, with the state on etcd at ${HANDOVER.store.endpoints.join(', ')}: ` +
        `start it with "drover start --root ${root}"; for another node, give another directory with --root`,
    );
    expect(inRoot('config.json')).toBe(before);
    expect((await world.tokens.list()).find(({ maxUses }) => maxUses === 1)?.uses).toBe(0);
  });

  it('uses its token up', async () => {
    const token = await world.token({ asMaster: true, maxUses: 1 });
    await run(token);
    root = join(parent, 'other');
    await expect(run(token, 'm3')).rejects.toThrow(/was for 1 node/);
  });

  it('needs a token for masters, with which no other node joins', async () => {
    await expect(run(await world.token())).rejects.toThrow(/makes masters by "drover join --as-master"/);
    const token = await world.token({ asMaster: true });
    const plain = joinCluster(root, token, { master: `127.0.0.1:${world.port}`, nodeId: 'w1' });
    await expect(plain).rejects.toThrow(/makes masters by "drover join --as-master"/);
    expect(existsSync(join(root, 'data/cluster/cluster.key'))).toBe(false);
    expect((await world.tokens.list()).map(({ uses }) => uses)).toEqual([0, 0]);
  });

  it('needs a state on etcd', async () => {
    await world.stop();
    await begin();
    await expect(run(await world.token({ asMaster: true }))).rejects.toThrow(/several masters need etcd/);
  });

  it.each(['master', 'm9'])('does not get the name of a master: %s', async (nodeId) => {
    const { node } = await world.node('w1', { token: await world.token() });
    await node.wrapper.whenFed;
    const record = await world.store.get(nodeKey('w1'));
    const value = { ...Object(record?.value), nodeId: 'm9', master: true };
    await world.store.transact([{ do: 'put', key: nodeKey('m9'), value }]);
    await expect(run(await world.token({ asMaster: true }), nodeId)).rejects.toThrow(/give/);
    await expect(run(await world.token({ asMaster: true }), 'w1')).rejects.toThrow(/has joined already/);
  });

  it('may be a wrapper of the cluster, and is that no more', async () => {
    const { membership, files } = await world.member('w1', { token: await world.token() });
    (await membership.connect(new AbortController().signal)).close('joined');
    const secrets = new SecretDirectory((await prepareRoot(root)).cluster);
    await secrets.file('member.json').write(files.member.text ?? '');
    await run(await world.token({ asMaster: true }), 'w1');
    expect(await world.members.get('w1')).toBeUndefined();
    expect(existsSync(join(root, 'data/cluster/member.json'))).toBe(false);
  });
});
