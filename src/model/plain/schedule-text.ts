/** A schedule in one sentence, for people: its next due time, and what became of the last one. */
import type { Freeze, PastDue, ShownSchedule } from '../schedule.js';
import { cutText, instantText } from '../words.js';
import { durationText } from './duration-text.js';

export function scheduleText(
  { name, do: deed, next, skip, paused, last }: ShownSchedule,
  now: number,
): string {
  const isSkipped = skip === next ? ', which is skipped' : '';
  const held = paused === undefined ? isSkipped : `, but paused by ${paused.by}`;
  const at = `at ${instantText(next)} (in ${durationText(next - now)})`;
  const before = last === null ? '' : `; last ${pastDueText(last)}`;
  return `Schedule ${name}: ${deed} ${at}${held}${before}`;
}

/** `done, due at 2026-11-28 04:00:00: 3 instances`. */
function pastDueText({ outcome, due, message, by }: PastDue): string {
  const what = by === null ? `due at ${instantText(due)}` : `asked for by ${by}`;
  return `${outcome}, ${what}${message === null ? '' : `: ${message}`}`;
}

const MOST_REASON_CHARS = 200;

/** `frozen by ops until 2026-11-28 04:00:00: the tournament`. */
export function freezeText({ by, until, reason }: Freeze): string {
  const end = until === null ? '' : ` until ${instantText(until)}`;
  const why = reason === null ? '' : `: ${cutText(reason, MOST_REASON_CHARS)}`;
  return `frozen by ${by}${end}${why}`;
}
