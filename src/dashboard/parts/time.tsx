/** A time as its distance from now. The exact time shows on hover, and screen readers read it. */
import { useServices } from '../services/services.js';
import { text } from './text.js';

const UNITS = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1_000],
] as const;
const FORMAT = new Intl.RelativeTimeFormat('en', { numeric: 'always', style: 'short' });
const EXACT = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium' });

/** `at` in Unix milliseconds; null: never. */
export function Time({ at }: { readonly at: number | null }) {
  const { clock } = useServices();
  if (at === null) return <span class="quiet">{text.never}</span>;
  return (
    <time dateTime={new Date(at).toISOString()} title={exactTime(at)}>
      {relativeTime(at, clock.value)}
    </time>
  );
}

/** How long something has been up. */
export function Up({ since }: { readonly since: number }) {
  const { clock } = useServices();
  return <span title={exactTime(since)}>{durationText(clock.value - since)}</span>;
}

/** The time of the day, such as `18:24:04`. */
export function clockTime(at: number): string {
  return new Date(at).toTimeString().slice(0, 8);
}

export function exactTime(at: number): string {
  return EXACT.format(at);
}

function relativeTime(at: number, now: number): string {
  const distance = at - now;
  const [unit, length] = UNITS.find(([, ms]) => Math.abs(distance) >= ms) ?? [null, 1];
  return unit === null ? text.justNow : FORMAT.format(Math.trunc(distance / length), unit);
}

/** A duration, such as `2 h 5 min`. */
export function durationText(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  const parts: readonly (readonly [number, string])[] = [
    [Math.floor(seconds / 86_400), 'd'],
    [Math.floor(seconds / 3600) % 24, 'h'],
    [Math.floor(seconds / 60) % 60, 'min'],
    [seconds % 60, 's'],
  ];
  const first = parts.findIndex(([count]) => count > 0);
  if (first < 0) return '0 s';
  return parts
    .slice(first, first + 2)
    .filter(([count]) => count > 0)
    .map(([count, unit]) => `${count} ${unit}`)
    .join(' ');
}

/** A sentence of the server with the time that is left in place of the one that it was written with. */
export function countedDown(sentence: string, leftMs: number): string {
  return sentence.replace(
    /\b(in|waits) \d+ (?:d|h|min|s)(?: \d+ (?:h|min|s))?/,
    `$1 ${durationText(leftMs)}`,
  );
}
