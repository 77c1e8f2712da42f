/** A change of the records of configurations by one master's files or API: a compare-and-set by the leader. */
import type { ConfigurationRecord } from '../../model/configuration.js';
import { configurationKey, revisionKey } from '../../store/keys.js';
import { MAX_OPERATIONS, type Operation } from '../../store/store.js';
import type { ParsedConfiguration } from '../parse.js';

export type RecordEdit =
  | {
      readonly do: 'put';
      readonly name: string;
      /** The file that says it, on the node that brings it. */
      readonly file: string;
      readonly parsed: Pick<ParsedConfiguration, 'configuration' | 'content' | 'hash'>;
      /** 0: there is no record. */
      readonly expectedRevision: number;
    }
  | { readonly do: 'remove'; readonly name: string; readonly expectedRevision: number };

/** Writes records. The leader has the store; any other master asks the leader. */
export interface RecordDoor {
  /**
   * One transaction. Resolves with its revision. Throws DRV_STORE_CONFLICT when a record is at another revision, and
   * what hinders the write.
   */
  write(edits: readonly RecordEdit[]): Promise<number>;
}

/** Each is two operations at most. */
const EDITS_AT_ONCE = MAX_OPERATIONS / 2;
/** Of the contents in one transaction: a store on etcd takes 1.5 MiB at once, and a content goes into two records. */
const LONGEST_CONTENTS = 256 * 1024;

/** Cuts edits into transactions, in order. A content that is too long for any stands alone. */
export function inTransactions(edits: readonly RecordEdit[]): RecordEdit[][] {
  const transactions: RecordEdit[][] = [];
  let length = 0;
  for (const edit of edits) {
    const added = edit.do === 'put' ? JSON.stringify(edit.parsed.content).length : 0;
    const last = transactions.at(-1);
    if (last === undefined || last.length === EDITS_AT_ONCE || length + added > LONGEST_CONTENTS) {
      transactions.push([edit]);
      length = added;
    } else {
      last.push(edit);
      length += added;
    }
  }
  return transactions;
}

/** `sourceNode`: the node that brings them. */
export function operationsOf(edits: readonly RecordEdit[], sourceNode: string): Operation[] {
  return edits.flatMap((edit): Operation[] => {
    const key = configurationKey(edit.name);
    const { expectedRevision } = edit;
    if (edit.do === 'remove') return [{ do: 'remove', key, expectedRevision }];
    const { configuration, hash } = edit.parsed;
    const value: ConfigurationRecord = { configuration, sourceFile: edit.file, sourceNode, hash };
    return [
      expectedRevision === 0 ? { do: 'create', key, value } : { do: 'update', key, value, expectedRevision },
      { do: 'put', key: revisionKey(hash), value: configuration },
    ];
  });
}
