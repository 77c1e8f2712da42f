/**
 * Opens the store of a node's master on etcd. Only open-master-store.ts loads this file, and only for a store on etcd.
 */
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { isLoopback } from '../api/http/bind-address.js';
import { readBootId } from '../files/processes.js';
import { ElectedLeadership } from '../leadership/elected-leadership.js';
import type { MasterPeer } from '../leadership/leadership.js';
import { invalidNodeConfiguration } from '../model/errors.js';
import { hostPort } from '../model/plain/host-port.js';
import type { EtcdSettings } from '../model/settings/store-settings.js';
import { refuseIfOpen } from '../node/private-path.js';
import type { RootPaths } from '../node/root.js';
import { connectEtcd } from '../store/etcd/connect.js';
import { type OwnEntry, storeKeys } from '../store/etcd/leader-key.js';
import { Masters } from '../store/etcd/masters.js';
import { openElected } from '../store/etcd/open.js';
import { Upkeep } from '../store/etcd/upkeep.js';
import { PREFIX, secretKey } from '../store/keys.js';
import { wasStoreMade } from '../store/lmdb/open.js';
import type { Store } from '../store/store.js';
import { addEtcdGauges } from '../telemetry/gauges.js';
import type { Assembly } from './assembly.js';
import type { MasterStore } from './open-master-store.js';

const IN_CLEAR =
  'the state travels in clear: etcd is on another machine, and its endpoints begin with http://; give etcd certificates, ' +
  'and name https:// endpoints with "ca" in config.json (docs/several-masters.md: The state on etcd)';

interface OnEtcdOptions {
  readonly settings: EtcdSettings;
  readonly own: MasterPeer;
  /** Called with the reason of a wait, as in `openMasterStore`. */
  readonly waitFor: (reason: string) => void;
}

export async function openOnEtcd(
  assembly: Assembly,
  { settings, own, waitFor }: OnEtcdOptions,
): Promise<MasterStore> {
  const { paths, configuration, shared, running, ending, fenced } = assembly;
  const { clock, logger, metrics } = shared;
  const { prefix = `/drover/${configuration.clusterName}` } = settings;
  if (settings.endpoints.some(isInClear)) logger.warn(IN_CLEAR);
  for (const file of [settings.key, settings.passwordFile])
    if (file !== undefined) await refuseIfOpen(resolve(paths.root, file), 0o600);
  const etcd = await connectEtcd(settings, paths.root, clock);
  waitFor(`it waits for its state on etcd ${etcd.name}`);
  const { store, election, lease } = await openElected({
    etcd,
    prefix,
    own: entryOf(assembly),
    clock,
    logger,
    signal: ending,
    onDelay: waitFor,
    onLost: fenced,
    onWrite: (seconds) => metrics.observeStoreWrite(seconds),
  });
  running.onStop(() => store.close());
  waitFor('it waits until a master writes the first state of its cluster');
  await refuseForeign(store, paths, prefix);
  const upkeep = new Upkeep({ etcd, key: prefix, clock, logger });
  upkeep.start();
  running.onStop(() => upkeep.stop());
  addEtcdGauges(metrics.registry, () => upkeep.figures);
  const masters = new Masters({
    etcd,
    keys: storeKeys(prefix),
    nodeId: own.nodeId,
    lease,
    clock,
    onChange: () => candidate.changed(),
  });
  const candidate = new ElectedLeadership({ election, masters, own, clock, logger });
  masters.start();
  running.onStop(() => masters.stop());
  return { store, candidate };
}

/** The entry in etcd by which other masters know this one. */
export function entryOf({ paths, configuration }: Pick<Assembly, 'paths' | 'configuration'>): OwnEntry {
  const { nodeId, address, port } = configuration;
  return { nodeId, clusterAddress: hostPort(address, port), root: `${paths.rootId} ${readBootId()}` };
}

function isInClear(endpoint: string): boolean {
  const { protocol, hostname } = new URL(endpoint);
  return protocol === 'http:' && !isLoopback(hostname.replace(/^\[|\]$/g, ''));
}

/**
 * Refuses a state on etcd that does not belong to this root: with that state, a master would end or duplicate the
 * instances that nodes run. Throws DRV_NODE_CONFIG_INVALID with advice.
 */
export async function refuseForeign(
  store: Pick<Store, 'get' | 'list'>,
  paths: Pick<RootPaths, 'store' | 'cluster'>,
  prefix: string,
): Promise<void> {
  const file = join(paths.store, 'master');
  if (wasStoreMade(file) && (await store.list('')).entries.length === 0)
    throw invalidNodeConfiguration(
      `config.json: store: etcd holds nothing under ${prefix}, and ${file} holds the state of this master; run "drover store migrate --to etcd", or move that directory away to start empty`,
    );
  const { entries: members } = await store.list(PREFIX.members);
  const isShared = (await store.get(secretKey('authority'))) !== undefined;
  if (members.length > 0 && !isShared && !existsSync(join(paths.cluster, 'authority.pem')))
    throw invalidNodeConfiguration(
      `the nodes of the cluster under ${prefix} trust the authority of another master: copy data/cluster/ of that one into ${paths.cluster} (docs/several-masters.md, "The state on etcd")`,
    );
}
