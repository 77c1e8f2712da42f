/** docs/several-masters.md, "When etcd is lost", step by step with the built program: a backup, a new etcd, and what runs goes on. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { drover, Member } from '../support/cluster/member.js';
import { failedOf } from '../support/daemon/daemon.js';
import { hasEtcd } from '../support/etcd/etcd-server.js';
import { ThreeMasters } from '../support/masters/three-masters.js';
import { until } from '../support/until.js';

const OLDER = ['--accept-older'];
/** What a node says that has seen more than the restored state holds. */
const KEEPS =
  /far-1 has seen revision \d+ of this master's store, .* it keeps what it has\. .* --accept-older/;

describe.skipIf(!hasEtcd)('a cluster whose etcd is lost', () => {
  let masters: ThreeMasters;
  let member: Member;
  beforeEach(async () => {
    masters = await ThreeMasters.start({ clusterName: 'prod', nodeTimeoutMs: 120_000, maxRamMB: 4096 });
    member = await Member.create();
  });
  afterEach(async ({ task }) => {
    if (failedOf(task).isFailed) console.log(`--- member\n${member.output}`);
    await member.finish();
    await masters.finish(failedOf(task));
  });

  const termOf = (): number =>
    JSON.parse(readFileSync(join(member.paths.cluster, 'masters.json'), 'utf8')).epoch;

  /** The instances that run on the other node, with their processes. */
  const running = async (): Promise<string[]> =>
    (await member.processes.marked())
      .filter(({ isLeader }) => isLeader)
      .map(({ instanceId, pid }) => `${instanceId} ${pid}`)
      .sort();

  it('goes on from a backup, with what runs, under masters that its nodes take', async () => {
    // Any master can be asked. On a busy machine the leader may change at any time, so each step that needs it asks again.
    const {
      others: [second = expect.fail('no master follows')],
    } = await masters.roles();
    const token = await drover('token', '--root', second.paths.root, '--uses', '1');
    await member.join(token.split('\n')[0] ?? '', second.clusterAddress, 'far-1');
    member.start();
    const fields = { runtime: 'process', ramMB: 64, cpu: 0, nodes: ['far-1'], command: 'sleep 1000' };
    await until(() => second.api.putConfiguration('web', { ...fields, minimumServiceCount: 1 }));
    const [web] = await until(async () => {
      const found = await second.api.instances('web');
      expect(found).toMatchObject([{ state: 'ONLINE' }]);
      return found;
    });

    // Beforehand: a backup, while all masters run, on one that follows.
    const backup = join(member.paths.root, 'state.backup');
    expect(await drover('store', 'backup', backup, '--root', second.paths.root)).toContain('entries');
    // What came after it is not in it.
    await until(() => second.api.putConfiguration('late', { ...fields, minimumServiceCount: 0 }));
    const late = await until(
      async () => (await second.api.instances('late'))[0] ?? (await second.api.create('late')),
    );
    const { processPid: latePid } = await until(async () => {
      const found = await second.api.instance(late.id);
      expect(found).toMatchObject({ state: 'ONLINE' });
      return found;
    });
    const former = termOf();

    const { leader } = await masters.roles();
    await masters.loseEtcd();
    expect(await leader.api.instances('web')).toMatchObject([{ id: web?.id, processPid: web?.processPid }]);
    const refused = await leader.api.send('POST', '/keys', { label: 'now', scope: 'READ' });
    expect(refused).toMatchObject({ status: 503 });

    // 1. All masters are stopped.
    for (const { process } of masters.all)
      expect(await process.end('SIGTERM')).toEqual({ code: 0, signal: null });
    // 2. A new etcd, and its endpoints in each config.json.
    await masters.newEtcd();
    // 3. One master restores.
    expect(await drover('store', 'restore', backup, '--root', second.paths.root)).toContain('are restored');
    // 4. All of them start, and take the older state.
    for (const master of masters.all) master.spawn(OLDER);
    const { leader: now } = await masters.roles();
    // Until then the other nodes keep what they have, also when the state has come beyond what they have seen.
    for (let n = 0; n < 30; n++) await now.api.send('POST', '/keys', { label: `key-${n}`, scope: 'READ' });
    const kept = await running();
    expect(kept).toEqual([`${late.id} ${latePid}`, `${web?.id} ${web?.processPid}`].sort());
    for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
      await until(() => expect(member.daemon.stdout).toMatch(KEEPS));
      expect(await running()).toEqual(kept);
      await member.daemon.end(signal);
      member.start(signal === 'SIGTERM' ? [] : OLDER);
    }
    // 5. At last they take the state, and end what it does not know.
    await until(async () => expect(await running()).toEqual([`${web?.id} ${web?.processPid}`]));

    await until(async () =>
      expect(await now.api.instances()).toMatchObject([
        { id: web?.id, processPid: web?.processPid, state: 'ONLINE', restarts: 0 },
      ]),
    );
    await until(() => expect(termOf()).toBeGreaterThan(former));
    await until(async () => {
      const { text } = await now.api.send('GET', '/cluster/status');
      expect(JSON.parse(text).leader.epoch).toBe(termOf());
    });
    // The files of all masters have what came after the backup, and bring it back.
    await until(async () =>
      expect((await now.api.configurations()).map(({ name }) => name)).toEqual(['late', 'web']),
    );
    await until(() =>
      now.api.putConfiguration('web', { ...fields, minimumServiceCount: 1, stopTimeoutSeconds: 1 }),
    );

    // Another change of the leader needs no word of anybody.
    const { leader: last } = await masters.roles();
    await last.process.end('SIGKILL');
    const { leader: next } = await masters.roles(last.nodeId);
    await until(async () =>
      expect(await next.api.instances('web')).toMatchObject([
        { id: web?.id, processPid: web?.processPid, state: 'ONLINE', restarts: 0 },
      ]),
    );
  });
});
