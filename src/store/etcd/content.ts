/** Reads the keys of a store in etcd: the whole content of a snapshot, and the writes in a batch of events. */
import { corruptStore, type DroverError } from '../../model/errors.js';
import type { KeyTable } from '../key-table.js';
import type { Change, Entry } from '../store.js';
import type { EventBatch, KeyEvent } from './etcd.js';
import { decodeEntry, decodeSummary, type Summary } from './etcd-record.js';
import type { Snapshot } from './follow.js';
import type { StoreKeys } from './leader-key.js';

export interface Content {
  readonly entries: Map<string, Entry>;
  readonly summary: Pick<Summary, 'revision' | 'entries'>;
  /** The mod revision of the summary; 0: there is no summary. */
  readonly summaryRevision: number;
}

/** A single write of a leader, as a follower sees it. */
export interface Written {
  /** The changes in the order of their revisions. */
  readonly changes: readonly Change[];
  /** The revision of the store and its number of entries after the write. */
  readonly summary: Content['summary'];
  readonly summaryRevision: number;
}

/** The content of a snapshot. Throws DRV_STORE_CORRUPT when a written record is missing or cannot be read. */
export function contentOf(snapshot: Snapshot, keys: StoreKeys): Content {
  const entries = new Map<string, Entry>();
  let summary: Content['summary'] = { revision: 0, entries: 0 };
  let summaryRevision = 0;
  if (snapshot.entries.some(({ key }) => key === keys.filling)) throw unfinished(keys.prefix);
  for (const { key, value, modRevision } of snapshot.entries) {
    if (key.startsWith(keys.records)) {
      const id = key.slice(keys.records.length);
      entries.set(id, decodeEntry(id, value));
    } else if (key === keys.summary) {
      summary = decodeSummary(value);
      summaryRevision = modRevision;
    }
  }
  checkCount(entries.size, summary);
  for (const { key, revision } of entries.values())
    if (revision > summary.revision) throw corrupt(`${key} is newer than the store itself`);
  return { entries, summary, summaryRevision };
}

/** The writes in a batch of events, in order. Throws DRV_STORE_CORRUPT. */
export function* writesOf(events: readonly KeyEvent[], keys: StoreKeys): Generator<Written> {
  for (const { revision: summaryRevision, events: written } of byRevision(events)) {
    const records = written.filter(({ key }) => key.startsWith(keys.records));
    const summaryValue = written.find(({ key }) => key === keys.summary)?.value;
    if (summaryValue === undefined) {
      if (records.length > 0 || written.some(({ key }) => key === keys.summary))
        throw corrupt('something else than Drover has changed it');
      continue;
    }
    const summary = decodeSummary(summaryValue);
    const changes = records.map(({ key, value }): Change => {
      const id = key.slice(keys.records.length);
      return value === undefined
        ? { key: id, value: undefined, revision: summary.revision }
        : decodeEntry(id, value);
    });
    yield { changes: inOrder(changes), summary, summaryRevision };
  }
}

function* byRevision(events: readonly KeyEvent[]): Generator<EventBatch> {
  for (let from = 0; from < events.length; ) {
    const revision = events[from]?.modRevision ?? 0;
    let to = from + 1;
    while (events[to]?.modRevision === revision) to++;
    yield { revision, events: events.slice(from, to) };
    from = to;
  }
}

/** The single write that turns the content of `table` into the content of a snapshot. */
export function writeTo(content: Content, table: Pick<KeyTable, 'get' | 'list'>): Written {
  const { entries, summary, summaryRevision } = content;
  const changes: Change[] = [...entries.values()].filter(
    ({ key, revision }) => table.get(key)?.revision !== revision,
  );
  for (const { key } of table.list(''))
    if (!entries.has(key)) changes.push({ key, value: undefined, revision: summary.revision });
  return { changes: inOrder(changes), summary, summaryRevision };
}

export function checkCount(held: number, { entries }: Content['summary']): void {
  if (held !== entries) throw corrupt(`it holds ${held} entries, but ${entries} were written`);
}

export function corrupt(problem: string): DroverError {
  return corruptStore(
    `the state on etcd is damaged: ${problem}. Nothing was changed. Restore etcd from a backup, or take another prefix to start empty`,
  );
}

function unfinished(prefix: string): DroverError {
  return corruptStore(
    `a move or a restore of a state to etcd was interrupted, and what it has written under ${prefix} is not whole. What it was written from is whole: the file of the master, or the backup. Remove the rest (etcdctl del --prefix ${prefix}), then run "drover store migrate --to etcd" or "drover store restore" again`,
  );
}

function inOrder(changes: readonly Change[]): Change[] {
  return changes.toSorted((a, b) => a.revision - b.revision);
}
