/**
 * The configurations controller's decision: which records the files of one node add, change and remove, and which
 * faults to report. owners.ts decides who owns a name; faults.ts finds the faults.
 */
import { isDeepStrictEqual } from 'node:util';
import { type FaultFacts, faultsOf } from '../../../src/configuration-files/faults/faults.js';
import { type OwnerFacts, ownersOf } from '../../../src/configuration-files/faults/owners.js';
import type { ParsedConfiguration } from '../../../src/configuration-files/parse.js';
import type { Plan } from '../../../src/loop/reconciler.js';
import { type ConfigurationFileError, isBroughtBy } from '../../../src/model/configuration.js';
import { MAX_OPERATIONS } from '../../../src/store/store.js';

/** Changes in one transaction: each is two operations at most. */
const CHANGES_AT_ONCE = MAX_OPERATIONS / 2;
/** Of the contents in one transaction: a store on etcd takes 1.5 MiB at once, and a content goes into two records. */
const LONGEST_CONTENTS = 256 * 1024;

export interface ConfigurationFacts extends OwnerFacts, Omit<FaultFacts, 'owners' | 'isStored'> {
  /** The source: the node whose files these are. */
  readonly nodeId: string;
  /** False: the files were never read, so nothing is concluded from them. */
  readonly isRead: boolean;
  /** The records that are set aside, by name. `file`: of this source; null: another source's, or not known. */
  readonly setAside: ReadonlyMap<string, { readonly revision: number; readonly file: string | null }>;
}

export type RecordChange =
  | {
      readonly do: 'put';
      readonly name: string;
      /** The source: a file of a node. */
      readonly file: string;
      readonly nodeId: string;
      readonly parsed: ParsedConfiguration;
      /** 0: there is no record. */
      readonly expectedRevision: number;
      /** False when only the source changed. */
      readonly isNewContent: boolean;
    }
  | {
      readonly do: 'remove';
      readonly name: string;
      readonly file: string;
      readonly expectedRevision: number;
    };

export type ConfigurationStep =
  /** One transaction. Every change stands for itself, so the next round can go on after any of them. */
  | { readonly do: 'write'; readonly changes: readonly RecordChange[] }
  /** What the store refused last need not be written any more. */
  | { readonly do: 'forget-refusal' }
  | { readonly do: 'report'; readonly faults: readonly ConfigurationFileError[] };

export function plan(facts: ConfigurationFacts): Plan<ConfigurationStep> {
  const { changes, faults } = decide(facts);
  const steps: ConfigurationStep[] = [];
  // First, so that the faults of files are reported also while the store refuses writes.
  if (!isDeepStrictEqual(faults, facts.told)) steps.push({ do: 'report', faults });
  for (const some of inTransactions(changes)) steps.push({ do: 'write', changes: some });
  if (changes.length === 0 && facts.refusal !== undefined) steps.push({ do: 'forget-refusal' });
  return { steps };
}

/** Cuts the changes into transactions, in order. A content that is too long for any stands alone. */
function inTransactions(changes: readonly RecordChange[]): RecordChange[][] {
  const transactions: RecordChange[][] = [];
  let length = 0;
  for (const change of changes) {
    const added = change.do === 'put' ? JSON.stringify(change.parsed.configuration).length : 0;
    const last = transactions.at(-1);
    if (last === undefined || last.length === CHANGES_AT_ONCE || length + added > LONGEST_CONTENTS) {
      transactions.push([change]);
      length = added;
    } else {
      last.push(change);
      length += added;
    }
  }
  return transactions;
}

/** The same decision in parts, for questions between two rounds. */
export function decide(facts: ConfigurationFacts): {
  readonly changes: readonly RecordChange[];
  readonly faults: readonly ConfigurationFileError[];
} {
  const owners = ownersOf(facts);
  // Puts before removals: a configuration that takes another name is never away in between.
  const changes = facts.isRead ? [...puts(facts, owners), ...removals(facts, owners)] : [];
  return { changes, faults: faultsOf({ ...facts, owners, isStored: changes.length === 0 }) };
}

function* puts(
  { nodeId, files, records, setAside }: ConfigurationFacts,
  owners: ReadonlyMap<string, string>,
): Generator<RecordChange> {
  for (const [name, file] of owners) {
    const reading = files.get(file);
    if (reading?.kind !== 'valid') continue;
    const { parsed } = reading;
    const present = records.get(name);
    const isNewContent = present?.value.hash !== parsed.hash;
    const isSameSource = present?.value.sourceFile === file && present.value.sourceNode === nodeId;
    if (!isNewContent && isSameSource) continue;
    // A file says anew what was set aside.
    const expectedRevision = present?.revision ?? setAside.get(name)?.revision ?? 0;
    yield { do: 'put', name, file, nodeId, parsed, expectedRevision, isNewContent };
  }
}

function* removals(
  { nodeId, files, records, setAside }: ConfigurationFacts,
  owners: ReadonlyMap<string, string>,
): Generator<RecordChange> {
  for (const [name, { revision, file }] of setAside)
    if (file !== null && !files.has(file) && !owners.has(name))
      yield { do: 'remove', name, file, expectedRevision: revision };
  for (const [name, { value, revision }] of records) {
    if (isBroughtBy(value, nodeId) && !owners.has(name))
      yield { do: 'remove', name, file: value.sourceFile, expectedRevision: revision };
  }
}
