/** Cuts changes of configuration records into transactions of the store. */
import { MAX_OPERATIONS } from '../store/store.js';
import type { ParsedConfiguration } from './parse.js';

/** The most changes in one transaction: each writes a record, its revision and its history. */
export const CHANGES_AT_ONCE = Math.floor(MAX_OPERATIONS / 3);
/** The most content in one transaction: a store on etcd takes 1.5 MiB at once, and a content goes into two records. */
const LONGEST_CONTENTS = 256 * 1024;

type Change =
  | { readonly do: 'put'; readonly parsed: Pick<ParsedConfiguration, 'content'> }
  | { readonly do: 'remove' };

/** Cuts changes into transactions, in order. A content that is too long for any transaction stands alone. */
export function inTransactions<One extends Change>(changes: readonly One[]): One[][] {
  const transactions: One[][] = [];
  let length = 0;
  for (const change of changes) {
    const added = change.do === 'put' ? JSON.stringify(change.parsed.content).length : 0;
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
