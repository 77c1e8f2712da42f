/** Lengths of time, as commands print and take them. */

const UNITS = [
  { seconds: 86_400, unit: 'd' },
  { seconds: 3600, unit: 'h' },
  { seconds: 60, unit: 'm' },
] as const;

/** `42s`, `5m`, `3h12m`, `2d4h`: two units at most. Negative counts as none. */
export function describeAge(ms: number): string {
  let rest = Math.max(0, Math.floor(ms / 1000));
  if (rest < 60) return `${rest}s`;
  const parts: string[] = [];
  for (const { seconds, unit } of UNITS) {
    const count = Math.floor(rest / seconds);
    rest -= count * seconds;
    if (count > 0 || parts.length > 0) parts.push(`${count}${unit}`);
  }
  return parts
    .slice(0, 2)
    .filter((part) => !part.startsWith('0'))
    .join('');
}

const LENGTH = /^(\d{1,6})([smhd])$/;
const SECONDS_OF: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 };

/** Milliseconds of `30s`, `10m`, `2h`, `7d`; undefined: it is none of these. */
export function parseDuration(text: string): number | undefined {
  const [, count, unit] = LENGTH.exec(text) ?? [];
  const seconds = SECONDS_OF[unit ?? ''];
  return count === undefined || seconds === undefined ? undefined : Number(count) * seconds * 1000;
}
