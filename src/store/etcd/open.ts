/**
 * Opens the store of a master on etcd: waits for etcd, reads everything, and follows it from then on. Its `election`
 * says when this master leads and writes.
 */
import { whileOpen } from '../../files/while-open.js';
import { pause } from '../../loop/pause.js';
import {
  DroverError,
  internalError,
  invalidNodeConfiguration,
  messageOf,
  storeUnavailable,
} from '../../model/errors.js';
import type { Logger } from '../../telemetry/logger.js';
import { RepeatedLog } from '../../telemetry/repeated-log.js';
import type { WriteObserver } from '../embedded-store.js';
import { KeyTable } from '../key-table.js';
import { type Entry, MAX_OPERATIONS, type StoreState } from '../store.js';
import { ChangeHistory } from '../watch.js';
import { type Content, contentOf } from './content.js';
import { closed, Election } from './election.js';
import type { KeyChange } from './etcd.js';
import type { EtcdError } from './etcd-error.js';
import { encodeEntry } from './etcd-record.js';
import { EtcdStore, GROUP_BYTES } from './etcd-store.js';
import { type FollowOptions, readRange, type Snapshot, untilAnswered } from './follow.js';
import { describeOther, isOther, masterOf, type OwnEntry, type StoreKeys, storeKeys } from './leader-key.js';
import { Lease } from './lease.js';

const LOOK_EVERY_MS = 200;
/** After 10 s another process of this node lives: the lease of an ended process, also a prolonged one, is over. */
const MOST_LOOKS = 50;

/**
 * `etcd` is closed with the store, and when the store cannot be opened. `prefix` has no slash at the end. `signal` ends
 * the wait for etcd and for the leader.
 */
export interface OpenEtcdStoreOptions extends Omit<FollowOptions, 'onFailure'> {
  /** This master, as the other masters see it. */
  readonly own: OwnEntry;
  readonly logger?: Logger;
  /** Called with the reason of a wait, as a line for the operator. Default: the line is logged. */
  readonly onWait?: (line: string) => void;
  /** Called repeatedly with the reason during a long wait, in addition to `onWait` or the log. */
  readonly onDelay?: (line: string) => void;
  /** Called at most once, when this process can no longer follow the state on etcd. The process must end. */
  readonly onLost?: (error: DroverError) => void;
  readonly onWrite?: WriteObserver;
  /** How many changes are kept for watchers. */
  readonly historyCapacity?: number;
}

/** The store of a master, its part in the election, and its lease. */
export interface Elected {
  readonly store: EtcdStore;
  readonly election: Election;
  readonly lease: Lease;
}

/**
 * Resolves when this process has read the store. It then follows the store, and becomes a candidate when `campaign` is
 * called. Throws DRV_STORE_CLOSED when `signal` aborts, DRV_STORE_UNAVAILABLE when etcd refuses this user,
 * DRV_STORE_CORRUPT when any written record is missing, and DRV_NODE_CONFIG_INVALID while another process of this node is
 * up.
 */
export async function openElected(options: OpenEtcdStoreOptions): Promise<Elected> {
  const { etcd } = options;
  try {
    return await open(options);
  } catch (error) {
    etcd.close();
    throw error;
  }
}

/** Reads the whole state, whether any master leads or not, and changes nothing. Throws like `openElected`. */
export async function readEtcd(options: OpenEtcdStoreOptions): Promise<StoreState> {
  const { etcd } = options;
  try {
    const { entries, summary } = await readContent(options);
    return { entries: new KeyTable(entries, summary.revision).list(''), revision: summary.revision };
  } finally {
    etcd.close();
  }
}

/** Opens the store like `openElected`, and resolves when this process leads. */
export async function openEtcdStore(options: OpenEtcdStoreOptions): Promise<EtcdStore> {
  const { store, election } = await openElected(options);
  const giveUp = (): void => void election.stop();
  options.signal.addEventListener('abort', giveUp);
  try {
    if (options.signal.aborted) giveUp();
    await election.campaign();
    return store;
  } catch (error) {
    await store.close();
    throw error;
  } finally {
    options.signal.removeEventListener('abort', giveUp);
  }
}

/**
 * Writes a whole state, with its revisions, under an empty prefix, for the next process that opens it. When the write
 * is interrupted, no process can open the incomplete state. Throws like `openEtcdStore`, and DRV_STORE_CONFLICT when
 * the prefix holds a state.
 */
export async function fillEtcd(options: OpenEtcdStoreOptions, state: StoreState): Promise<void> {
  const { etcd, clock, signal } = options;
  const { store, election } = await openElected(options);
  const keys = storeKeys(options.prefix);
  const onFailure = failureLog(options);
  await whileOpen(store, async () => {
    const writer = await election.campaign();
    if (store.size.revision > 0)
      throw new DroverError(
        'DRV_STORE_CONFLICT',
        `etcd ${etcd.name} holds a state under ${keys.prefix} already; remove it first (etcdctl del --prefix ${keys.prefix}), or take another prefix`,
      );
    const size = { revision: state.revision, entries: state.entries.length };
    for (const changes of marked(keys, [...requestsFor(keys, state.entries)])) {
      const write = { number: writer.nextNumber(), changes, ...size };
      await untilAnswered({ clock, signal, onFailure }, () => writer.commit(write));
    }
  });
}

async function open(options: OpenEtcdStoreOptions): Promise<Elected> {
  const { etcd, prefix, clock, logger, onWrite, historyCapacity, own, onWait, onLost } = options;
  const keys = storeKeys(prefix);
  const startedAt = clock.monotonic();
  const { snapshot, entries, summary, summaryRevision } = await readContent(options);
  const { revision } = summary;
  await untilSole(options, snapshot);
  logger?.info(
    { entries: entries.size, revision, ms: Math.round(clock.monotonic() - startedAt) },
    `store ${keys.prefix} on etcd ${etcd.name} opened: ${entries.size} entries, all sound`,
  );
  const store = new EtcdStore({
    etcd,
    keys,
    table: new KeyTable(entries, revision),
    history: new ChangeHistory(revision, historyCapacity),
    summaryRevision,
    clock,
    onWrite,
    logger,
    onClose: async () => {
      await election.stop();
      etcd.close();
    },
  });
  const lease = new Lease({ etcd, keys, own, clock, logger });
  const onFailure = failureLog(options, 'is not heard of now');
  const election = new Election({ etcd, keys, own, lease, store, clock, logger, onFailure, onWait });
  election.start({ kind: 'snapshot', ...snapshot }, (error) => onLost?.(asDroverError(error)));
  return { store, election, lease };
}

/** Waits until the entry of another process of this node has ended with its lease. Throws when that process goes on. */
async function untilSole(options: OpenEtcdStoreOptions, { entries }: Snapshot): Promise<void> {
  const { etcd, prefix, own, clock, signal, logger, onDelay } = options;
  const key = storeKeys(prefix).masters + own.nodeId;
  const onFailure = failureLog(options);
  let found = entries.find((entry) => entry.key === key);
  for (let looks = 0; !signal.aborted; looks++) {
    const other = masterOf(found?.value);
    if (other === undefined || !isOther(other, own)) return;
    if (looks > MOST_LOOKS) throw invalidNodeConfiguration(`config.json: nodeId: ${describeOther(other)}`);
    const line = `it waits: another process of node ${own.nodeId} is up, or has ended a moment ago`;
    onDelay?.(line);
    if (looks === 0) logger?.info(line);
    await pause(clock, LOOK_EVERY_MS, signal);
    const answer = await untilAnswered({ clock, signal, onFailure }, () => etcd.range({ key }));
    found = answer?.entries[0];
  }
  throw closed();
}

async function readContent(
  options: OpenEtcdStoreOptions,
): Promise<Content & { readonly snapshot: Snapshot }> {
  const { etcd, prefix, clock, signal } = options;
  const keys = storeKeys(prefix);
  const onFailure = failureLog(options);
  const snapshot = await untilAnswered({ clock, signal, onFailure }, () => readRange(etcd, keys.prefix));
  if (snapshot === undefined) throw closed();
  return { snapshot, ...contentOf(snapshot, keys) };
}

function asDroverError(error: unknown): DroverError {
  return error instanceof DroverError
    ? error
    : internalError(`the state on etcd is not followed any more: ${messageOf(error)}`, { cause: error });
}

/** Makes a handler that reports each failure of etcd once. The handler throws when waiting is of no use. */
function failureLog(
  options: OpenEtcdStoreOptions,
  problem = 'cannot be opened yet',
): (error: EtcdError) => void {
  const { etcd, prefix, clock, logger, onWait, onDelay } = options;
  const log = logger && new RepeatedLog(logger, clock);
  const said = new Set<string>();
  return (error) => {
    if (error.isHopeless)
      throw storeUnavailable(
        `etcd refuses this master: ${error.message}; check user and passwordFile, or cert and key, of "store" in config.json, and that etcd lets that user read and write all keys under ${prefix}/`,
        { cause: error },
      );
    const line = `the state on etcd ${etcd.name} ${problem}: ${error.message}; trying on`;
    onDelay?.(line);
    if (onWait === undefined)
      log?.say(error.message, `${line}; what runs on this node is looked after meanwhile`);
    else if (!said.has(line)) {
      said.add(line);
      onWait(line);
    }
  };
}

/** The requests with a key from the first to the last of them, which tells an interrupted fill from damage. */
function marked(
  { filling }: StoreKeys,
  requests: readonly (readonly KeyChange[])[],
): readonly (readonly KeyChange[])[] {
  if (requests.length < 2) return requests;
  const mark = { do: 'put', key: filling, value: Buffer.alloc(0) } as const;
  const first = [mark, ...(requests[0] ?? [])];
  const last = [...(requests.at(-1) ?? []), { do: 'delete', key: filling } as const];
  return [first, ...requests.slice(1, -1), last];
}

/** Groups the changes into requests. Yields at least one request, which may be empty. */
function* requestsFor(keys: StoreKeys, entries: readonly Entry[]): Generator<KeyChange[]> {
  let changes: KeyChange[] = [];
  let bytes = 0;
  for (const { key, value, revision } of entries) {
    const encoded = encodeEntry(revision, JSON.stringify(value));
    if (changes.length === MAX_OPERATIONS || (bytes > 0 && bytes + encoded.length > GROUP_BYTES)) {
      yield changes;
      changes = [];
      bytes = 0;
    }
    changes.push({ do: 'put', key: keys.records + key, value: encoded });
    bytes += encoded.length;
  }
  yield changes;
}
