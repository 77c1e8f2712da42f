/** Opens the store of a node's master where `config.json` says that it is: in a file of the node, or on etcd. */
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { isLoopback } from '../api/http/bind-address.js';
import type { Candidate } from '../leadership/candidate.js';
import { ElectedLeadership } from '../leadership/elected-leadership.js';
import type { MasterPeer } from '../leadership/leadership.js';
import { SoleLeadership } from '../leadership/sole-leadership.js';
import { DroverError } from '../model/errors.js';
import { hostPort } from '../model/host-port.js';
import type { NodeConfiguration } from '../model/node.js';
import type { EtcdSettings } from '../model/settings/store-settings.js';
import { refuseIfOpen } from '../node/private-path.js';
import type { RootPaths } from '../node/root.js';
import { connectEtcd } from '../store/etcd/connect.js';
import { storeKeys } from '../store/etcd/leader-key.js';
import { Masters } from '../store/etcd/masters.js';
import { openElected } from '../store/etcd/open.js';
import { Upkeep } from '../store/etcd/upkeep.js';
import { PREFIX, secretKey } from '../store/keys.js';
import { wasStoreMade } from '../store/lmdb/open.js';
import type { Store } from '../store/store.js';
import { type Assembly, openNodeStore } from './assembly.js';

/** The name of the secret that every leader has made. */
export const TOKENS_SECRET = 'instance-tokens';
const IN_CLEAR =
  'the state travels in clear: etcd is on another machine, and its endpoints begin with http://; give etcd certificates, ' +
  'and name https:// endpoints with "ca" in config.json (docs/operations.md: The state on etcd)';

/** The state of a master, and its part among the masters that share it. */
export interface MasterStore {
  readonly store: Store;
  readonly candidate: Candidate;
}

/**
 * It is closed when the node stops. On etcd this waits until etcd answers, and `waitFor` gets why; the assembly's
 * `ending` ends that.
 */
export async function openMasterStore(
  assembly: Assembly,
  waitFor: (reason: string) => void,
): Promise<MasterStore> {
  const { configuration, shared } = assembly;
  if (configuration.store.kind === 'etcd') return openOnEtcd(assembly, configuration.store, waitFor);
  const own = { ...peerOf(configuration), since: shared.clock.now() };
  return { store: await openNodeStore(assembly, 'master'), candidate: new SoleLeadership(own) };
}

/** Resolves when the state is more than empty: this master may write, or another one has written what all share. */
export async function untilFounded({ store, candidate }: MasterStore, ending: AbortSignal): Promise<void> {
  const found = new AbortController();
  const signal = AbortSignal.any([ending, found.signal]);
  try {
    await Promise.race([candidate.elected, untilThere(store, secretKey(TOKENS_SECRET), signal)]);
  } finally {
    found.abort();
  }
  if (ending.aborted)
    throw new DroverError(
      'DRV_STORE_CLOSED',
      'ended while it waited for a master; instances that run here go on',
    );
}

/** Resolves when the store holds `key`, or `signal` aborts. */
async function untilThere(store: Store, key: string, signal: AbortSignal): Promise<void> {
  const { entries, revision } = await store.list(key);
  if (entries.length > 0) return;
  for await (const changes of store.watch(key, revision, signal)) if (changes.length > 0) return;
}

function peerOf({ nodeId, address, port }: NodeConfiguration): MasterPeer {
  return { nodeId, clusterAddress: hostPort(address, port) };
}

async function openOnEtcd(
  assembly: Assembly,
  settings: EtcdSettings,
  waitFor: (reason: string) => void,
): Promise<MasterStore> {
  const { paths, configuration, shared, running, ending, fenced } = assembly;
  const { clock, logger, metrics } = shared;
  const { prefix = `/drover/${configuration.clusterName}` } = settings;
  if (settings.endpoints.some(isInClear)) logger.warn(IN_CLEAR);
  for (const file of [settings.key, settings.passwordFile])
    if (file !== undefined) await refuseIfOpen(resolve(paths.root, file), 0o600);
  const etcd = await connectEtcd({ settings, root: paths.root, clock });
  const own = peerOf(configuration);
  waitFor(`it waits for its state on etcd ${etcd.name}`);
  const { store, election } = await openElected({
    etcd,
    prefix,
    own,
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
  metrics.addEtcd(() => upkeep.figures);
  const masters = new Masters({ etcd, keys: storeKeys(prefix), clock, onChange: () => candidate.changed() });
  const candidate = new ElectedLeadership({ election, masters, own, clock, logger });
  masters.start();
  running.onStop(() => masters.stop());
  return { store, candidate };
}

function isInClear(endpoint: string): boolean {
  const { protocol, hostname } = new URL(endpoint);
  return protocol === 'http:' && !isLoopback(hostname.replace(/^\[|\]$/g, ''));
}

/**
 * Refuses a state on etcd that does not belong to this root: a master would end or double what nodes run. Throws
 * DRV_NODE_CONFIG_INVALID with what to do.
 */
export async function refuseForeign(
  store: Pick<Store, 'get' | 'list'>,
  paths: Pick<RootPaths, 'store' | 'cluster'>,
  prefix: string,
): Promise<void> {
  const file = join(paths.store, 'master');
  if (wasStoreMade(file) && (await store.list('')).entries.length === 0)
    throw new DroverError(
      'DRV_NODE_CONFIG_INVALID',
      `config.json: store: etcd holds nothing under ${prefix}, and ${file} holds the state of this master; run "drover store migrate --to etcd", or move that directory away to start empty`,
    );
  const { entries: members } = await store.list(PREFIX.members);
  const isShared = (await store.get(secretKey('authority'))) !== undefined;
  if (members.length > 0 && !isShared && !existsSync(join(paths.cluster, 'authority.pem')))
    throw new DroverError(
      'DRV_NODE_CONFIG_INVALID',
      `the nodes of the cluster under ${prefix} trust the authority of another master: copy data/cluster/ of that one into ${paths.cluster} (docs/operations.md, "The state on etcd")`,
    );
}
