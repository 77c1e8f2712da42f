/** Opens stores on a test's etcd, each under a prefix of its own. */
import { randomUUID } from 'node:crypto';
import { SystemClock } from '../../../src/loop/system-clock.js';
import type { EtcdStore } from '../../../src/store/etcd/etcd-store.js';
import { type OpenEtcdStoreOptions, openEtcdStore } from '../../../src/store/etcd/open.js';
import { EtcdClient } from '../../../src/store/etcd/wire/client.js';

/** A prefix that no other test uses. */
export function newPrefix(): string {
  return `/test/${randomUUID()}`;
}

/** Opens a store of a node as a master does, on the real clock. */
export function openTestStore(
  endpoints: readonly string[],
  options: Partial<OpenEtcdStoreOptions> & { readonly prefix: string },
): Promise<EtcdStore> {
  const clock = new SystemClock();
  return openEtcdStore({
    etcd: new EtcdClient({ endpoints, clock }),
    // By its root a store knows its own entry when the answer to the put was cut off.
    own: { nodeId: 'tester', clusterAddress: 'tester:6000', root: 'tester' },
    clock,
    signal: new AbortController().signal,
    ...options,
  });
}
