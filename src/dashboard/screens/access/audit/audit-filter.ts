/** Filters the audit trail, the newest entry first, makes one row of a bulk, and says in a sentence what was done. Pure. */
import type { AuditEntry } from '../../../../model/audit.js';
import { deedOf, pastOf } from '../../../../model/plain/deed.js';
import { plural } from '../../../parts/amounts.js';

export type ResultFilter = '' | 'failed' | 'done';

/** The longest pause between two calls of a bulk. */
const BULK_MS = 3000;
/** How many subjects a sentence names. */
const MOST_NAMED = 5;

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

/** The deed to the subjects of a row, without who did it. */
function sentenceOf(entry: AuditEntry, subjects: readonly string[]): string {
  const { action } = entry;
  const told = (verb: string): string => (isDone(entry) ? pastOf(verb) : `tried to ${verb}`);
  if (action === 'command') return `${told('run')} ${subjects[0] ?? ''}`;
  // A deed of Drover itself, such as a join.
  if (!action.includes(' /')) return [action, ...subjects].join(' ');
  const { verb, noun } = deedOf(action, subjects[0] ?? '');
  const names = subjects.slice(0, MOST_NAMED).map((subject) => deedOf(action, subject).name);
  const more = subjects.length > MOST_NAMED ? [`${subjects.length - MOST_NAMED} more`] : [];
  const one = noun.replace(/ies$/, 'y').replace(/s$/, '');
  const several = subjects.length > 1 ? `${plural(subjects.length, one, noun)}:` : noun;
  const object = subjects.length === 1 ? one : several;
  return `${told(verb)} ${object} ${[...names, ...more].join(', ')}`.trim();
}

/** True for a command that ended with `ok`, and for a status below 400. */
export function isDone({ result }: AuditEntry): boolean {
  return result === 'ok' || Number(result) < 400;
}

/** Equal for two entries that may be one row: a bulk sends a call for each instance. */
function bulkKeyOf({ subject, at: _, ...entry }: AuditEntry): string {
  return JSON.stringify([entry, deedOf(entry.action, subject ?? '').verb]);
}
