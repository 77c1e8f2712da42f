/**
 * Reads a range of keys and follows it: first all entries at one revision, then every later event once and in order,
 * even when connections break in between.
 */

import { abortable } from '../../loop/abortable.js';
import { backoffMs } from '../../loop/backoff.js';
import type { Clock } from '../../loop/clock.js';
import { pause } from '../../loop/pause.js';
import { type Etcd, endOfPrefix, type KeyEvent, type KeyValue } from './etcd.js';
import { CompactedError, EtcdError } from './etcd-error.js';

/**
 * The number of keys in the first page. Most records have a few hundred bytes and some 1 MiB, so the size of each later
 * page depends on the bytes of the page before.
 */
const FIRST_PAGE_ENTRIES = 64;
const MOST_PAGE_ENTRIES = 8192;
const PAGE_BYTES = 1024 * 1024;
/** The pause after each failed call while etcd is away: it doubles until etcd answers. */
export const AGAIN_AFTER = { baseMs: 100, maxMs: 1000 } as const;

export interface Snapshot {
  /** The entries in the order of their keys. */
  readonly entries: readonly KeyValue[];
  readonly revision: number;
}

/** An item that a follower yields. A snapshot replaces everything before it. */
export type RangeNews =
  | ({ readonly kind: 'snapshot' } & Snapshot)
  | { readonly kind: 'events'; readonly events: readonly KeyEvent[]; readonly revision: number };

export interface FollowOptions {
  readonly etcd: Etcd;
  readonly prefix: string;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Called for each failure of etcd, before the next try. */
  readonly onFailure: (error: EtcdError) => void;
}

/**
 * Yields a snapshot, then events. `after`: a revision at which the caller already has the range; the first snapshot is
 * then left out. Ends when `signal` aborts. Throws errors that are not etcd's.
 */
export async function* followRange(options: FollowOptions, after?: number): AsyncGenerator<RangeNews> {
  const { etcd, prefix, signal } = options;
  const end = endOfPrefix(prefix);
  // The last revision that the consumer got. A revision that etcd only announced does not count.
  let revision = after;
  let failures = 0;
  while (!signal.aborted) {
    if (revision === undefined) {
      const snapshot = await untilAnswered(options, () => readRange(etcd, prefix));
      if (snapshot === undefined) return;
      yield { kind: 'snapshot', ...snapshot };
      revision = snapshot.revision;
    }
    try {
      while (!signal.aborted) {
        const step = etcd.watch({ key: prefix, end, revision: revision + 1 }, signal);
        try {
          for await (const batch of step) {
            revision = batch.revision;
            failures = 0;
            yield { kind: 'events', ...batch };
          }
        } catch (error) {
          await retryLater(options, error, failures++);
        }
      }
    } catch (error) {
      if (!(error instanceof CompactedError)) throw error;
      revision = undefined;
    }
  }
}

/** Reads all keys under `prefix` at one revision, in pages. Throws EtcdError. */
export async function readRange(etcd: Etcd, prefix: string): Promise<Snapshot> {
  const entries: KeyValue[] = [];
  const end = endOfPrefix(prefix);
  let revision: number | undefined;
  let limit = FIRST_PAGE_ENTRIES;
  for (let key = prefix; ; ) {
    const page = await etcd.range({ key, end, limit, ...(revision !== undefined && { revision }) });
    revision ??= page.revision;
    let bytes = 0;
    for (const entry of page.entries) {
      entries.push(entry);
      bytes += entry.value.length;
    }
    limit =
      bytes < PAGE_BYTES / 2
        ? Math.min(2 * limit, MOST_PAGE_ENTRIES)
        : Math.max(1, limit >> Number(bytes > PAGE_BYTES));
    const last = page.entries.at(-1);
    if (!page.hasMore || last === undefined) return { entries, revision };
    // Go on after the last key. No key of Drover contains NUL, so no key comes in between.
    key = `${last.key}\0`;
  }
}

/**
 * Repeats the call until etcd answers; undefined: `signal` aborted, and a call under way is not waited for. Throws
 * errors that are not etcd's.
 */
export async function untilAnswered<T>(
  options: Omit<FollowOptions, 'prefix' | 'etcd'>,
  ask: () => Promise<T>,
): Promise<T | undefined> {
  const { signal } = options;
  for (let failures = 0; !signal.aborted; failures++)
    try {
      return await abortable(ask(), signal);
    } catch (error) {
      if (!signal.aborted) await retryLater(options, error, failures);
    }
  return undefined;
}

async function retryLater(
  { onFailure, clock, signal }: Pick<FollowOptions, 'onFailure' | 'clock' | 'signal'>,
  error: unknown,
  failures: number,
): Promise<void> {
  if (!(error instanceof EtcdError)) throw error;
  onFailure(error);
  await pause(clock, backoffMs(failures, AGAIN_AFTER), signal);
}
