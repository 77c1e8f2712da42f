/** Runs the store contract on a real etcd: as it is, and behind a connection that breaks all the time. */
import { beforeAll, describe, expect, it } from 'vitest';
import { Random } from '../simulation/random.js';
import { type EtcdCluster, hasEtcd } from '../support/etcd/etcd-server.js';
import { newPrefix, openTestStore } from '../support/etcd/etcd-world.js';
import type { FaultProxy } from '../support/etcd/fault-proxy.js';
import { shareEtcd } from '../support/etcd/shared-etcd.js';
import { describeStore } from './store-contract.js';

describe.skipIf(!hasEtcd)('on etcd', () => {
  let etcd: EtcdCluster;
  let proxy: FaultProxy;
  shareEtcd((shared) => {
    ({ etcd, proxy } = shared);
  });

  describeStore('etcd', async (options) => {
    const store = await openTestStore(etcd.endpoints, { prefix: newPrefix(), ...options });
    return { store, dispose: () => store.close() };
  });

  describe('behind cuts', () => {
    const sizes = new Random('cuts');
    beforeAll(() => {
      proxy.fault = { kind: 'cut', afterBytes: () => sizes.between(400, 4000) };
    });
    describeStore('etcd', async (options) => {
      const store = await openTestStore([proxy.endpoint], { prefix: newPrefix(), ...options });
      return { store, dispose: () => store.close() };
    });
    it('has been cut all the time', () => expect(proxy.cuts).toBeGreaterThan(20));
  });
});
