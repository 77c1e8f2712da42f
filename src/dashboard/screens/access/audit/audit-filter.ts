/** Filters the audit trail, the newest entry first. Pure. */
import type { AuditEntry } from '../../../../model/audit.js';

export type ResultFilter = '' | 'failed' | 'done';

/** An entry with its place in the answer, which tells apart two entries of the same millisecond. */
export interface NumberedEntry {
  readonly key: string;
  readonly entry: AuditEntry;
}

/** True for a command that ended with `ok`, and for a status below 400. */
export function isDone({ result }: AuditEntry): boolean {
  return result === 'ok' || Number(result) < 400;
}

/**
 * `entries`: as the API answers them, the newest last. `find`: words that must all be in an entry, in capital or
 * small letters.
 */
export function filteredEntries(
  entries: readonly AuditEntry[],
  find: string,
  result: ResultFilter,
): NumberedEntry[] {
  const words = find
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '');
  return entries
    .map((entry, place) => ({ key: String(place), entry }))
    .filter(({ entry }) => result === '' || isDone(entry) === (result === 'done'))
    .filter(({ entry }) => words.every((word) => wordsOf(entry).includes(word)))
    .reverse();
}

function wordsOf({ key, action, subject, address, result }: AuditEntry): string {
  return [key, action, subject, address, result].join(' ').toLowerCase();
}
