/**
 * Opens the store of a master on etcd: waits for etcd, waits until no other master leads, reads everything, and takes
 * the store over.
 */
import type { Clock } from '../../loop/clock.js';
import { DroverError } from '../../model/errors.js';
import type { Logger } from '../../telemetry/logger.js';
import { RepeatedLog } from '../../telemetry/repeated-log.js';
import type { WriteObserver } from '../embedded-store.js';
import { KeyTable } from '../key-table.js';
import { type Entry, MAX_OPERATIONS, type StoreState } from '../store.js';
import { ChangeHistory } from '../watch.js';
import type { Etcd, KeyChange } from './etcd.js';
import type { EtcdError } from './etcd-error.js';
import { decodeEntry, decodeSummary, encodeEntry, type Summary } from './etcd-record.js';
import { EtcdStore } from './etcd-store.js';
import { followRange, readRange, untilAnswered } from './follow.js';
import { type LeaderHolder, type StoreKeys, storeKeys } from './leader-key.js';
import { Leadership } from './leadership.js';
import { TermWriter } from './term-writer.js';

/** Of several entries; etcd takes 1.5 MiB at once by default. */
const REQUEST_BYTES = 512 * 1024;

export interface OpenEtcdStoreOptions {
  /** Closed with the store, and when it cannot be opened. */
  readonly etcd: Etcd;
  /** What all keys begin with, without a slash at the end. */
  readonly prefix: string;
  /** Named to those who wait. */
  readonly nodeId: string;
  readonly clock: Clock;
  readonly logger?: Logger;
  /** Called with why the open waits, for a person. Default: the log says it. */
  readonly onWait?: (line: string) => void;
  /** Ends the wait for etcd and for the leader. */
  readonly signal: AbortSignal;
  /** Called at most once: another master writes the store. The process must end. */
  readonly onLost?: (error: DroverError) => void;
  readonly onWrite?: WriteObserver;
  /** How many changes are held for watchers. */
  readonly historyCapacity?: number;
}

/** What an open has to do with etcd until the store is there. */
interface Opening {
  readonly options: OpenEtcdStoreOptions;
  readonly keys: StoreKeys;
  readonly leadership: Leadership;
  readonly onFailure: (error: EtcdError) => void;
}

/**
 * Resolves when this process leads and has read the store. Throws DRV_STORE_CLOSED when `signal` aborts,
 * DRV_STORE_UNAVAILABLE when etcd refuses this user, and DRV_STORE_CORRUPT when anything that was written is missing.
 */
export async function openEtcdStore(options: OpenEtcdStoreOptions): Promise<EtcdStore> {
  const { etcd } = options;
  const keys = storeKeys(options.prefix);
  const leadership = new Leadership({ ...options, keys });
  try {
    return await open({ options, keys, leadership, onFailure: failureLog(options) });
  } catch (error) {
    await leadership.resign();
    etcd.close();
    throw error;
  }
}

async function open(opening: Opening): Promise<EtcdStore> {
  const { options, keys, leadership } = opening;
  const { etcd, clock, logger, onWrite, historyCapacity } = options;
  await lead(opening);
  const startedAt = clock.monotonic();
  const { entries, summary, writer } = await takeOver(opening);
  const { revision } = summary;
  logger?.info(
    {
      entries: entries.size,
      revision,
      ms: Math.round(clock.monotonic() - startedAt),
      epoch: leadership.epoch,
    },
    `store ${keys.prefix} on etcd ${etcd.name} opened: ${entries.size} entries, all sound; this master leads`,
  );
  const table = new KeyTable(entries, revision);
  const history = new ChangeHistory(revision, historyCapacity);
  return new EtcdStore({ etcd, keys, leadership, writer, table, history, clock, onWrite, logger });
}

/**
 * Writes a whole state, with its revisions, under a prefix that holds none, and leaves it to the next who opens it. Cut
 * short, it leaves a state that nobody opens. Throws as `openEtcdStore`, and DRV_STORE_CONFLICT when there is a state.
 */
export async function fillEtcd(options: OpenEtcdStoreOptions, state: StoreState): Promise<void> {
  const { etcd } = options;
  const keys = storeKeys(options.prefix);
  const leadership = new Leadership({ ...options, keys });
  const opening = { options, keys, leadership, onFailure: failureLog(options) };
  try {
    await lead(opening);
    const { summary, writer } = await takeOver(opening);
    if (summary.revision > 0)
      throw new DroverError(
        'DRV_STORE_CONFLICT',
        `etcd ${etcd.name} holds a state under ${keys.prefix} already; remove it first (etcdctl del --prefix ${keys.prefix}), or take another prefix`,
      );
    for (const changes of inRequests(keys, state.entries)) {
      const write = {
        number: writer.nextNumber(),
        changes,
        revision: state.revision,
        entries: state.entries.length,
      };
      await ask(opening, () => writer.commit(write));
    }
  } finally {
    await leadership.resign();
    etcd.close();
  }
}

/** Resolves when this process holds the leader key. */
async function lead(opening: Opening): Promise<void> {
  const { options, keys, leadership, onFailure } = opening;
  const { etcd, clock, signal, logger, nodeId, onWait } = options;
  let awaited: string | undefined;
  for (;;) {
    const claim = await ask(opening, () => leadership.take());
    if (claim.isTaken) return;
    const text = describeLeader(claim.leader, nodeId);
    const line = `this master waits as a standby on ${keys.prefix}: ${text}`;
    if (text !== awaited) (onWait ?? ((said) => logger?.info(said)))(line);
    awaited = text;
    for await (const news of followRange({ etcd, prefix: keys.leader, clock, signal, onFailure })) {
      const isFree =
        news.kind === 'snapshot' ? news.entries.length === 0 : news.events.at(-1)?.value === undefined;
      if (isFree) break;
    }
  }
}

function describeLeader(leader: LeaderHolder | undefined, nodeId: string): string {
  if (leader === undefined) return 'its leader key is held by something else than Drover';
  return leader.nodeId === nodeId
    ? `another process of node ${nodeId} leads, or has ended a moment ago`
    : `master ${leader.nodeId} leads`;
}

interface Content {
  readonly entries: Map<string, Entry>;
  readonly summary: Omit<Summary, 'session' | 'write'>;
  readonly summaryRevision: number;
}

/** Reads everything. From then on nothing of another term can take effect. */
async function takeOver(opening: Opening): Promise<Content & { readonly writer: TermWriter }> {
  const { options, keys, leadership } = opening;
  const { etcd } = options;
  const content = await ask(opening, () => readStore(etcd, keys));
  const { entries, summary, summaryRevision } = content;
  const writer = new TermWriter({ etcd, keys, leadership, summaryRevision });
  const { revision } = summary;
  const first = { number: writer.nextNumber(), changes: [], revision, entries: entries.size };
  await ask(opening, () => writer.commit(first));
  return { ...content, writer };
}

/** Reads and checks everything. Throws EtcdError and DRV_STORE_CORRUPT. */
async function readStore(etcd: Etcd, keys: StoreKeys): Promise<Content> {
  const found = await readRange(etcd, keys.prefix);
  const entries = new Map<string, Entry>();
  let summary: Content['summary'] = { format: 1, revision: 0, entries: 0 };
  let summaryRevision = 0;
  for (const { key, value, modRevision } of found.entries) {
    if (key.startsWith(keys.records)) {
      const id = key.slice(keys.records.length);
      entries.set(id, decodeEntry(id, value));
    } else if (key === keys.summary) {
      summary = decodeSummary(value);
      summaryRevision = modRevision;
    }
  }
  const problem = problemOf(entries, summary);
  if (problem === undefined) return { entries, summary, summaryRevision };
  throw new DroverError(
    'DRV_STORE_CORRUPT',
    `the store ${keys.prefix} on etcd ${etcd.name} is damaged: ${problem}. Nothing was changed. Restore etcd from a backup, or take another prefix to start empty`,
  );
}

/** Cuts entries into requests that etcd takes. */
function* inRequests(keys: StoreKeys, entries: readonly Entry[]): Generator<KeyChange[]> {
  let changes: KeyChange[] = [];
  let bytes = 0;
  for (const { key, value, revision } of entries) {
    const encoded = encodeEntry(revision, JSON.stringify(value));
    if (changes.length === MAX_OPERATIONS || (bytes > 0 && bytes + encoded.length > REQUEST_BYTES)) {
      yield changes;
      changes = [];
      bytes = 0;
    }
    changes.push({ do: 'put', key: keys.records + key, value: encoded });
    bytes += encoded.length;
  }
  yield changes;
}

function problemOf(entries: ReadonlyMap<string, Entry>, summary: Content['summary']): string | undefined {
  if (entries.size !== summary.entries)
    return `it holds ${entries.size} entries, but ${summary.entries} were written`;
  for (const { key, revision } of entries.values())
    if (revision > summary.revision) return `${key} is newer than the store itself`;
  return undefined;
}

/** Asks until etcd answers. Throws DRV_STORE_CLOSED when the open is given up. */
async function ask<T>({ options, onFailure }: Opening, question: () => Promise<T>): Promise<T> {
  const { clock, signal } = options;
  const answer = await untilAnswered({ clock, signal, onFailure }, async () => ({ given: await question() }));
  if (answer !== undefined) return answer.given;
  throw new DroverError(
    'DRV_STORE_CLOSED',
    'ended while it waited for its state on etcd; instances that run here go on',
  );
}

/** Says what etcd lacks, not again and again; throws where waiting is of no use. */
function failureLog({ etcd, clock, logger, onWait }: OpenEtcdStoreOptions): (error: EtcdError) => void {
  const log = logger && new RepeatedLog(logger, () => clock.monotonic());
  const said = new Set<string>();
  return (error) => {
    if (error.isHopeless)
      throw new DroverError('DRV_STORE_UNAVAILABLE', `etcd refuses this master: ${error.message}`, {
        cause: error,
      });
    const line = `the state on etcd ${etcd.name} cannot be opened yet: ${error.message}; trying on`;
    if (onWait === undefined) log?.warn(error.message, line);
    else if (!said.has(line)) {
      said.add(line);
      onWait(line);
    }
  };
}
