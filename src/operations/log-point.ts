/** Reads a point in an instance's log as people and programs write it: a time, an age, or the number of a line. */
import type { LogPoint } from '../logs/log-batch.js';
import { parseDuration } from '../model/plain/duration.js';

export const LOG_POINT_RULE =
  'must be a time such as 2026-01-31T12:00:00Z, an age such as 30s, 10m, 2h or 7d, or the number of a line from 1 on';
const ZONE_RULE = 'must say its time zone: end it with Z for UTC, or with an offset such as +01:00';

const LINE = /^\d{1,15}$/;
/** A time with its zone. The sign of an offset may be a space, because a plus sign in a URL arrives as a space. */
const TIME = /^(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d(?::\d\d(?:[.,]\d{1,9})?)?)(?:([Zz])|([+ -])(\d\d:?\d\d))?$/;

/** Reads a point from text. Answers with the broken rule when the text is not a point. */
export function parseLogPoint(text: string): LogPoint | { readonly problem: string } {
  if (LINE.test(text)) return Number(text) >= 1 ? { line: Number(text) } : { problem: LOG_POINT_RULE };
  const ago = parseDuration(text);
  if (ago !== undefined) return { ago };
  const [whole, day, time = '', utc, sign, offset = ''] = TIME.exec(text) ?? [];
  if (whole === undefined) return { problem: LOG_POINT_RULE };
  if (utc === undefined && sign === undefined) return { problem: ZONE_RULE };
  const zone =
    sign === undefined ? 'Z' : `${sign === '-' ? '-' : '+'}${offset.slice(0, 2)}:${offset.slice(-2)}`;
  const at = Date.parse(`${day}T${time.replace(',', '.')}${zone}`);
  return Number.isNaN(at) || at < 0 ? { problem: LOG_POINT_RULE } : { at };
}

/** The fault of two points together; undefined: there is none. Points of different kinds are not compared. */
export function logPointsProblem(
  since: LogPoint | undefined,
  until: LogPoint | undefined,
): string | undefined {
  if (since === undefined || until === undefined) return undefined;
  const isReversed =
    ('at' in since && 'at' in until && since.at > until.at) ||
    ('ago' in since && 'ago' in until && since.ago < until.ago) ||
    ('line' in since && 'line' in until && since.line > until.line);
  return isReversed ? 'must not end before it begins: exchange since and until' : undefined;
}

const DAY_SECONDS = 86_400;

/** The point as text that `parseLogPoint` reads. */
export function logPointText(point: LogPoint): string {
  if ('line' in point) return String(point.line);
  if ('at' in point) return new Date(point.at).toISOString();
  const seconds = point.ago / 1000;
  // Write the largest unit that divides the age. The text of an age has six digits at most, so a long age in seconds
  // could not be read again.
  const units = [
    ['d', DAY_SECONDS],
    ['h', 3600],
    ['m', 60],
    ['s', 1],
  ] as const;
  const [unit, length] = units.find(([, length]) => seconds % length === 0) ?? ['s', 1];
  return `${Math.round(seconds / length)}${unit}`;
}
