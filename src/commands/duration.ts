/** Lengths of time for a column of a table. */

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
