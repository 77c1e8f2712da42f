/** Opens the store of a node's master, as `config.json` says: in a file of the node, or on etcd. */
import type { Candidate } from '../leadership/candidate.js';
import { SoleLeadership } from '../leadership/sole-leadership.js';
import { storeClosed } from '../model/errors.js';
import { hostPort } from '../model/plain/host-port.js';
import { secretKey } from '../store/keys.js';
import type { Store } from '../store/store.js';
import { type Assembly, openNodeStore } from './assembly.js';

/** The name of a secret that every leader creates. Its presence shows that a leader has written. */
export const TOKENS_SECRET = 'instance-tokens';

/** The store of a master, and its candidacy among the masters that share it. */
export interface MasterStore {
  readonly store: Store;
  readonly candidate: Candidate;
}

/**
 * Opens the store, which is closed when the node stops. On etcd it waits until etcd answers, and calls `waitFor` with
 * the reason; the assembly's `ending` ends that wait.
 */
export async function openMasterStore(
  assembly: Assembly,
  waitFor: (reason: string) => void,
): Promise<MasterStore> {
  const { configuration, shared } = assembly;
  const { nodeId, address, port } = configuration;
  const own = { nodeId, clusterAddress: hostPort(address, port) };
  if (configuration.store.kind === 'etcd') {
    const { openOnEtcd } = await import('./open-on-etcd.js');
    return openOnEtcd(assembly, { settings: configuration.store, own, waitFor });
  }
  const since = shared.clock.now();
  return { store: await openNodeStore(assembly, 'master'), candidate: new SoleLeadership({ ...own, since }) };
}

/** Resolves when this master may write, or another master has written the records that all masters share. */
export async function untilFounded({ store, candidate }: MasterStore, ending: AbortSignal): Promise<void> {
  const found = new AbortController();
  const signal = AbortSignal.any([ending, found.signal]);
  try {
    await Promise.race([candidate.elected, untilThere(store, secretKey(TOKENS_SECRET), signal)]);
  } finally {
    found.abort();
  }
  if (ending.aborted) throw storeClosed('ended while it waited for a master; instances that run here go on');
}

/** Resolves when the store contains `key`, or `signal` aborts. */
async function untilThere(store: Store, key: string, signal: AbortSignal): Promise<void> {
  const { entries, revision } = await store.list(key);
  if (entries.length > 0) return;
  for await (const changes of store.watch(key, revision, signal)) if (changes.length > 0) return;
}
