/** Shares one etcd, with a proxy in front of it, among all tests of a file. */
import { afterAll, beforeAll } from 'vitest';
import { type EtcdCluster, startEtcd } from './etcd-server.js';
import { FaultProxy } from './fault-proxy.js';

interface SharedEtcd {
  readonly etcd: EtcdCluster;
  readonly proxy: FaultProxy;
}

/** Call it once in a `describe`; `take` gets both before the first test. */
export function shareEtcd(take: (shared: SharedEtcd) => void): void {
  let shared: SharedEtcd | undefined;
  beforeAll(async () => {
    const etcd = await startEtcd();
    const proxy = await FaultProxy.start(etcd.endpoints[0] ?? '');
    shared = { etcd, proxy };
    take(shared);
  });
  afterAll(async () => {
    await shared?.proxy.stop();
    await shared?.etcd.stop();
  });
}
