/**
 * What the numbers of terms on etcd begin from. etcd counts from 1 in a new cluster, and nodes refuse a master of an
 * earlier term than they have seen: so a state that is written into etcd anew raises them all.
 */
import { z } from 'zod';
import type { Entry, StoreState } from './store.js';

/** Beside the prefixes of keys.ts: it is no record of any kind. */
export const EPOCH_BASE = 'epoch-base';

const baseSchema = z.object({ base: z.int().min(0) });

/** 0: none was stored. */
export function epochBaseOf(value: unknown): number {
  return baseSchema.safeParse(value).data?.base ?? 0;
}

/**
 * The state with a larger base than any term before had, also one that this state knows nothing of: microseconds since
 * 1970. No etcd has so many revisions in the same time.
 */
export function raiseEpochs({ entries, revision }: StoreState, nowMs: number): StoreState {
  const known = epochBaseOf(entries.find(({ key }) => key === EPOCH_BASE)?.value);
  const base = Math.max(known + 1, Math.round(nowMs * 1000));
  const raised: Entry = { key: EPOCH_BASE, value: { base }, revision: Math.max(revision, 1) };
  const rest = entries.filter(({ key }) => key !== EPOCH_BASE);
  return {
    entries: [...rest, raised].toSorted((a, b) => (a.key < b.key ? -1 : 1)),
    revision: raised.revision,
  };
}
