/** Lengths of time, as commands take them. How they are printed: `model/words.ts`. */

const LENGTH = /^(\d{1,6})([smhd])$/;
const SECONDS_OF: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 };

/** Milliseconds of `30s`, `10m`, `2h`, `7d`; undefined: it is none of these. */
export function parseDuration(text: string): number | undefined {
  const [, count, unit] = LENGTH.exec(text) ?? [];
  const seconds = SECONDS_OF[unit ?? ''];
  return count === undefined || seconds === undefined ? undefined : Number(count) * seconds * 1000;
}
