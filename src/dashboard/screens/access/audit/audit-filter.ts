/** Filters the audit trail, the newest entry first, and makes one row of a bulk. Pure. */
import type { AuditEntry } from '../../../../model/audit.js';
import { bulkKeyOf, isDone, sentenceOf } from './sentence.js';

export type ResultFilter = '' | 'failed' | 'done';

/** The longest pause between two calls of a bulk. */
const BULK_MS = 3000;

export interface AuditRow {
  /** The place of the entry in the answer, which tells apart two entries of the same millisecond. */
  readonly key: string;
  /** The newest entry of the row. */
  readonly entry: AuditEntry;
  /** The subjects of all its entries, in the order in which they came. */
  readonly subjects: readonly string[];
  readonly sentence: string;
}

/**
 * `entries`: as the API answers them, the newest last. `find`: words that must all be in an entry, in capital or
 * small letters.
 */
export function filteredEntries(
  entries: readonly AuditEntry[],
  find: string,
  result: ResultFilter,
): AuditRow[] {
  const words = find
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '');
  return folded(entries)
    .map((row) => ({ ...row, sentence: sentenceOf(row.entry, row.subjects) }))
    .filter(({ entry }) => result === '' || isDone(entry) === (result === 'done'))
    .filter((row) => words.every((word) => wordsOf(row).includes(word)))
    .reverse();
}

/** Makes a single row of equal deeds to several subjects, done right after each other. */
function folded(entries: readonly AuditEntry[]): Omit<AuditRow, 'sentence'>[] {
  const rows: Omit<AuditRow, 'sentence'>[] = [];
  for (const [place, entry] of entries.entries()) {
    const last = rows.at(-1);
    const isBulk =
      last !== undefined &&
      entry.subject !== null &&
      // Each save tells its own fields.
      !/^(?:command|PUT )/.test(entry.action) &&
      entry.at - last.entry.at <= BULK_MS &&
      bulkKeyOf(entry) === bulkKeyOf(last.entry);
    if (isBulk) rows.pop();
    const subjects = [...(isBulk ? last.subjects : []), entry.subject].filter((one) => one !== null);
    rows.push({ key: String(place), entry, subjects });
  }
  return rows;
}

function wordsOf({ entry: { key, action, address, result }, subjects, sentence }: AuditRow): string {
  return [key, action, sentence, ...subjects, address, result].join(' ').toLowerCase();
}
