/** Masters whose state is on etcd: another one goes on with it, and one whose etcd is away goes on as far as it can. */
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { SystemClock } from '../../src/loop/system-clock.js';
import { readRange } from '../../src/store/etcd/follow.js';
import { EtcdClient } from '../../src/store/etcd/wire/client.js';
import { ApiClient } from '../support/api/api-client.js';
import { DaemonWorld, failedOf } from '../support/daemon/daemon.js';
import { DaemonProcess } from '../support/daemon/daemon-process.js';
import { type EtcdCluster, hasEtcd } from '../support/etcd/etcd-server.js';
import { newPrefix } from '../support/etcd/etcd-world.js';
import type { FaultProxy } from '../support/etcd/fault-proxy.js';
import { shareEtcd } from '../support/etcd/shared-etcd.js';
import { freePorts } from '../support/free-ports.js';
import { until } from '../support/until.js';

describe.skipIf(!hasEtcd)('a master on etcd', () => {
  let etcd: EtcdCluster;
  let proxy: FaultProxy;
  let world: DaemonWorld;
  let prefix: string;
  shareEtcd((shared) => {
    ({ etcd, proxy } = shared);
  });
  beforeEach(async () => {
    prefix = newPrefix();
    const store = { kind: 'etcd', endpoints: [proxy.endpoint], prefix };
    world = await DaemonWorld.create({ settings: { store } });
  });
  afterEach(async ({ task }) => {
    proxy.fault = { kind: 'none' };
    await world.finish(failedOf(task));
  });

  it('is followed by another one with all of its state, and follows it when it comes back', async () => {
    world.configure('web', { command: 'sleep 1000', minimumServiceCount: 1 });
    await world.start();
    const [instance] = await world.untilOnline('web', 1);
    const second = await Second.start({ world, endpoints: etcd.endpoints, prefix });
    try {
      await until(() => expect(second.process.stdout).toContain('this master follows the state'));
      expect(second.process.stdout).toContain('master node-a leads');
      await world.kill();
      const found = await until(() => second.api.instances('web'));
      expect(found.map(({ id }) => id)).toEqual([instance?.id]);

      const again = world.spawn();
      await until(() => expect(again.stdout).toContain('master node-b leads'));
      expect(await second.process.end('SIGTERM')).toEqual({ code: 0, signal: null });
      const [adopted] = await world.untilOnline('web', 1);
      expect(adopted).toMatchObject({ id: instance?.id, processPid: instance?.processPid, restarts: 0 });
    } finally {
      await second.remove();
    }
  });

  it('keeps no secret in etcd in clear', async () => {
    world.configure('web', { command: 'echo "key $DROVER_API_KEY"; sleep 1000', minimumServiceCount: 1 });
    await world.start();
    const [instance] = await world.untilOnline('web', 1);
    const said = await world.untilLogged(instance?.id ?? '', /^key drv_/);
    // Makes the authority.
    expect(await world.api.send('POST', '/cluster/tokens')).toMatchObject({ status: 201 });
    const client = new EtcdClient({ endpoints: etcd.endpoints, clock: new SystemClock() });
    const { entries } = await readRange(client, `${prefix}/`).finally(() => client.close());
    const keys = entries.map(({ key }) => key.slice(prefix.length));
    const sealed = ['/records/secrets/authority', '/records/secrets/instance-tokens'];
    expect(keys).toEqual(expect.arrayContaining(sealed));
    const whole = entries.map(({ key, value }) => `${key} ${value.toString('latin1')}`).join('\n');
    expect(whole).not.toContain('PRIVATE KEY');
    const secrets = [
      readFileSync(join(world.paths.cluster, 'cluster.key'), 'utf8').trim(),
      readFileSync(world.paths.adminKey, 'utf8').trim(),
      said.replace('key ', ''),
    ];
    for (const secret of secrets) {
      expect(secret.length).toBeGreaterThan(30);
      for (const form of ['utf8', 'hex', 'base64', 'base64url'] as const)
        expect(whole).not.toContain(Buffer.from(secret).toString(form));
    }
    expect(whole).not.toContain(
      Buffer.from(secrets[0] ?? '', 'hex')
        .toString('base64')
        .slice(0, 40),
    );
  });

  it('answers reads and refuses writes while etcd is silent, and goes on when it is back', async () => {
    world.configure('web', { command: 'sleep 1000', minimumServiceCount: 0 });
    await world.start();
    await world.untilConfigured('web');
    proxy.fault = { kind: 'hole' };
    const refused = await world.api.send('POST', '/instances', { configurationName: 'web' });
    expect(refused).toMatchObject({ status: 503, text: expect.stringContaining('cannot be written') });
    expect(await world.api.instances('web')).toEqual([]);
    proxy.fault = { kind: 'none' };
    await until(async () =>
      expect((await world.api.send('POST', '/instances', { configurationName: 'web' })).status).toBe(201),
    );
    await world.untilOnline('web', 1);
  });

  it('says which etcd it waits for, and starts when that comes', async () => {
    proxy.fault = { kind: 'hole' };
    const waiting = world.spawn();
    await until(() => expect(waiting.stdout).toContain(`${proxy.endpoint}: no connection within`));
    // Its operator's key is not there yet, so nothing answers.
    await expect(fetch(`http://127.0.0.1:${world.apiPort}/api/ping`)).rejects.toThrow();
    expect(await waiting.end('SIGTERM')).toEqual({ code: 0, signal: null });
    expect(waiting.stderr).toContain('ended while it waited for its state on etcd');
    world.spawn();
    proxy.fault = { kind: 'none' };
    await until(() => world.api.instances());
  });
});

/** A second master in a root of its own, with the keys of the first one. */
class Second {
  private constructor(
    readonly process: DaemonProcess,
    readonly api: ApiClient,
    readonly root: string,
  ) {}

  static async start(options: {
    readonly world: DaemonWorld;
    readonly endpoints: readonly string[];
    readonly prefix: string;
  }): Promise<Second> {
    const { world, endpoints, prefix } = options;
    const root = mkdtempSync(join(tmpdir(), 'drover-second-'));
    const apiPort = await freePorts(2);
    const store = { kind: 'etcd', endpoints, prefix };
    const settings = { apiPort, port: apiPort + 1, nodeId: 'node-b', store };
    writeFileSync(join(root, 'config.json'), JSON.stringify(settings));
    mkdirSync(join(root, 'data'), { mode: 0o700 });
    const keyFile = join(root, 'data/admin.key');
    copyFileSync(world.paths.adminKey, keyFile);
    mkdirSync(join(root, 'data/cluster'), { mode: 0o700 });
    copyFileSync(join(world.paths.cluster, 'cluster.key'), join(root, 'data/cluster/cluster.key'));
    const api = new ApiClient({ apiPort, keyFile, authorityFile: undefined });
    return new Second(new DaemonProcess({ root }), api, root);
  }

  async remove(): Promise<void> {
    if (this.process.isRunning) await this.process.end('SIGTERM');
    rmSync(this.root, { recursive: true, force: true });
  }
}
