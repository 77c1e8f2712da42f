/** Reads lengths of time and instants as people write them. `words.ts` prints them. */

const LENGTH = /^(\d{1,6})([smhd])$/;
const SECONDS_OF: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 };

/** Returns the milliseconds of `30s`, `10m`, `2h` or `7d`; undefined for any other text. */
export function parseDuration(text: string): number | undefined {
  const [, count, unit] = LENGTH.exec(text) ?? [];
  const seconds = SECONDS_OF[unit ?? ''];
  return count === undefined || seconds === undefined ? undefined : Number(count) * seconds * 1000;
}

const DATE = /^\d{4}-\d\d-\d\d$/;
const INSTANT = /^(\d{4}-\d\d-\d\d)T\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?(?:Z|[+-]\d\d:\d\d)$/;

/** The rule of `parseExpiry`, for messages. */
export const EXPIRY_RULE = 'must be a time such as 12h or 30d, a date such as 2027-01-31, or never';

/**
 * The end of something that is made at `now`: `30d` later, at a date (UTC) or an instant, or never (null). Undefined:
 * the text has another form.
 */
export function parseExpiry(text: string, now: number): number | null | undefined {
  if (text === 'never') return null;
  const ms = parseDuration(text);
  if (ms !== undefined) return ms === 0 ? undefined : now + ms;
  const date = DATE.test(text) ? text : INSTANT.exec(text)?.[1];
  // JavaScript reads 31 February as a day in March.
  if (date === undefined || !isDay(date)) return undefined;
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : at;
}

function isDay(date: string): boolean {
  const at = Date.parse(`${date}T00:00:00Z`);
  return !Number.isNaN(at) && new Date(at).toISOString().startsWith(date);
}
