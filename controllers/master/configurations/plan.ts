/**
 * The configurations controller's decision: which records the files of one node add, change and remove, and which
 * faults to report. owners.ts decides who owns a name; faults.ts finds the faults.
 */
import { isDeepStrictEqual } from 'node:util';
import { type FaultFacts, faultsOf } from '../../../src/configuration-files/faults/faults.js';
import { type OwnerFacts, ownersOf } from '../../../src/configuration-files/faults/owners.js';
import type { ParsedConfiguration } from '../../../src/configuration-files/parse.js';
import { inTransactions } from '../../../src/configuration-files/record-transactions.js';
import type { Plan } from '../../../src/loop/reconciler.js';
import type { ConfigurationFileError, ConfigurationRecord } from '../../../src/model/configuration.js';
import { type Removal, type RemovalFacts, removalsOf } from './removals.js';

const NO_REMOVALS = { now: [], toWithhold: [], waiting: [] } as const;

export interface ConfigurationFacts
  extends OwnerFacts,
    RemovalFacts,
    Omit<FaultFacts, 'owners' | 'isStored' | 'waiting'> {
  /** False: the files were never read, so nothing is concluded from them. */
  readonly isRead: boolean;
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
  | ({ readonly do: 'remove' } & Removal)
  /** The record says that its removal waits. */
  | ({ readonly do: 'withhold'; readonly record: ConfigurationRecord } & Removal);

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

/** The same decision in parts, for questions between two rounds. */
export function decide(facts: ConfigurationFacts): {
  readonly changes: readonly RecordChange[];
  readonly faults: readonly ConfigurationFileError[];
} {
  const owners = ownersOf(facts);
  const { now, toWithhold, waiting } = facts.isRead ? removalsOf(facts, owners) : NO_REMOVALS;
  const changes: RecordChange[] = [
    // First: with more records, the rest would be a smaller part of all.
    ...toWithhold.map((one) => ({ do: 'withhold' as const, ...one })),
    // Puts before removals: a configuration that takes another name is never away in between.
    ...(facts.isRead ? puts(facts, owners) : []),
    ...now.map(({ name, file, expectedRevision }) => ({
      do: 'remove' as const,
      name,
      file,
      expectedRevision,
    })),
  ];
  return { changes, faults: faultsOf({ ...facts, owners, waiting, isStored: changes.length === 0 }) };
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
    if (!isNewContent && isSameSource && present.value.removalWaits !== true) continue;
    // A file says anew what was set aside.
    const expectedRevision = present?.revision ?? setAside.get(name)?.revision ?? 0;
    yield { do: 'put', name, file, nodeId, parsed, expectedRevision, isNewContent };
  }
}
