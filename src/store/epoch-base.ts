/**
 * The base: a number that is added to etcd's revision to make the number of a term. A new etcd cluster counts
 * from 1 again, but nodes refuse a master whose term is older than one that they have seen. So a restored
 * state gets a larger base.
 *
 * The base also names the line of the state, that is, its history. A restore begins a new line, in which a
 * revision may stand for other changes than the nodes have seen.
 */
import { z } from 'zod';
import type { Entry, StoreState } from './store.js';

/** The store key of the line. It has none of the prefixes of keys.ts, because the line is no record. */
export const EPOCH_BASE = 'epoch-base';

const restoreSchema = z.object({ base: z.int().min(0), revision: z.int().min(0) });
const lineSchema = z.object({ base: z.int().min(0), restores: z.array(restoreSchema).default([]) });

/** The line of a store: the history that its revisions belong to. Each restore begins a new line. */
export interface StoreLine {
  /** The base, larger in each later line; 0: the first line. */
  readonly base: number;
  /**
   * The revision at which each line except the first began. Up to that revision, a line has the same changes
   * as the line before.
   */
  readonly restores: readonly { readonly base: number; readonly revision: number }[];
}

const FIRST_LINE: StoreLine = { base: 0, restores: [] };

/** The stored line; the first line when none was stored. */
export function lineOf(value: unknown): StoreLine {
  return lineSchema.safeParse(value).data ?? FIRST_LINE;
}

/** The last revision that `line` has in common with the line of `base`; Infinity: they are the same line. */
export function lastInCommon({ restores }: StoreLine, base: number): number {
  return Math.min(...restores.filter((restore) => restore.base > base).map(({ revision }) => revision));
}

/**
 * The state as the beginning of a new line. The new base is the time in microseconds since 1970. No etcd gets revisions
 * that fast, so the base is larger than the number of any earlier term, even of a term that this state does not know.
 */
export function raiseEpochs({ entries, revision }: StoreState, nowMs: number): StoreState {
  const known = lineOf(entries.find(({ key }) => key === EPOCH_BASE)?.value);
  const base = Math.max(known.base + 1, Math.round(nowMs * 1000));
  const raisedAt = Math.max(revision, 1);
  const line: StoreLine = { base, restores: [...known.restores, { base, revision: raisedAt }] };
  const raised: Entry = { key: EPOCH_BASE, value: line, revision: raisedAt };
  const rest = entries.filter(({ key }) => key !== EPOCH_BASE);
  return { entries: [...rest, raised].toSorted((a, b) => (a.key < b.key ? -1 : 1)), revision: raisedAt };
}
