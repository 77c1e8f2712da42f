/**
 * Decides which records go because no file says their name any more. So many at once that it is hardly meant, such as
 * those of an emptied directory, wait for the operator's word. Pure.
 */
import type { Reading } from '../../../src/configuration-files/directory.js';
import { type ConfigurationRecord, isBroughtBy } from '../../../src/model/configuration.js';
import type { Mirrored } from '../../../src/store/mirror.js';

/** So few go without a word, whatever part of all they are. */
const MOST_REMOVED_AT_ONCE = 3;

export interface RemovalFacts {
  /** The source: the node whose files these are. */
  readonly nodeId: string;
  readonly files: ReadonlyMap<string, Reading>;
  /** The present records, by name. */
  readonly records: ReadonlyMap<string, Mirrored<ConfigurationRecord>>;
  /** The records that are set aside, by name. `file`: of this source; null: another source's, or not known. */
  readonly setAside: ReadonlyMap<string, { readonly revision: number; readonly file: string | null }>;
  /** Names that somebody asked to remove, one by one or all. */
  readonly confirmed: ReadonlySet<string>;
}

export interface Removal {
  readonly name: string;
  /** The file that is gone, or says another name. */
  readonly file: string;
  readonly expectedRevision: number;
}

export interface Removals {
  readonly now: readonly Removal[];
  /** They wait from now on. The record says so, because the number of all may change until the word comes. */
  readonly toWithhold: readonly (Removal & { readonly record: ConfigurationRecord })[];
  /** All that wait, in order of names. */
  readonly waiting: readonly string[];
}

interface Candidate extends Removal {
  /** Undefined: it is set aside. */
  readonly record: ConfigurationRecord | undefined;
}

/** `owners`: by name, the file that owns it. */
export function removalsOf(facts: RemovalFacts, owners: ReadonlyMap<string, string>): Removals {
  const { records, setAside, confirmed } = facts;
  const candidates = [...candidatesOf(facts, owners)];
  const unasked = candidates.filter(({ name }) => !confirmed.has(name));
  const all = records.size + [...setAside.values()].filter(({ file }) => file !== null).length;
  const isLarge = unasked.length > MOST_REMOVED_AT_ONCE && unasked.length > all / 2;
  // One that cannot be read cannot say that it waits: it waits with the others.
  const isAnyWaiting = unasked.some(hasToWait);
  const waiting = new Set(
    unasked.filter((one) => isLarge || hasToWait(one) || (one.record === undefined && isAnyWaiting)),
  );
  return {
    now: candidates.filter((one) => !waiting.has(one)),
    toWithhold: [...waiting].flatMap((one) =>
      one.record === undefined || hasToWait(one) ? [] : [{ ...one, record: one.record }],
    ),
    waiting: [...waiting].map(({ name }) => name).sort(),
  };
}

function hasToWait({ record }: Candidate): boolean {
  return record?.removalWaits === true;
}

function* candidatesOf(
  { nodeId, files, records, setAside }: RemovalFacts,
  owners: ReadonlyMap<string, string>,
): Generator<Candidate> {
  for (const [name, { revision, file }] of setAside)
    if (file !== null && !files.has(file) && !owners.has(name))
      yield { name, file, expectedRevision: revision, record: undefined };
  for (const [name, { value, revision }] of records)
    if (isBroughtBy(value, nodeId) && !owners.has(name))
      yield { name, file: value.sourceFile, expectedRevision: revision, record: value };
}
