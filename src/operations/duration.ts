/** Reads lengths of time as people type them. `words.ts` prints them. */

const LENGTH = /^(\d{1,6})([smhd])$/;
const SECONDS_OF: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 };

/** Returns the milliseconds of `30s`, `10m`, `2h` or `7d`; undefined for any other text. */
export function parseDuration(text: string): number | undefined {
  const [, count, unit] = LENGTH.exec(text) ?? [];
  const seconds = SECONDS_OF[unit ?? ''];
  return count === undefined || seconds === undefined ? undefined : Number(count) * seconds * 1000;
}
