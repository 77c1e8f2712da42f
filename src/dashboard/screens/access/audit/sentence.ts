/** Entries of the audit trail in sentences: what was done to what. Pure. */
import type { AuditEntry } from '../../../../model/audit.js';
import { deedOf, pastOf } from '../../../../model/plain/deed.js';
import { plural } from '../../../parts/amounts.js';

const MOST_NAMED = 5;

/** The deed to the subjects of a row, without who did it. */
export function sentenceOf(entry: AuditEntry, subjects: readonly string[]): string {
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
export function bulkKeyOf({ subject, at: _, ...entry }: AuditEntry): string {
  return JSON.stringify([entry, deedOf(entry.action, subject ?? '').verb]);
}
