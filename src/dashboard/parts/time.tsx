/** A time as its distance from now. The exact time shows on hover, and screen readers read it. */

import { durationText } from '../../model/plain/duration-text.js';
import { useServices } from '../services/services.js';
import { text } from './text.js';
import { exactTime } from './times.js';

const UNITS = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1_000],
] as const;
const FORMAT = new Intl.RelativeTimeFormat('en', { numeric: 'always', style: 'short' });

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

function relativeTime(at: number, now: number): string {
  const distance = at - now;
  const [unit, length] = UNITS.find(([, ms]) => Math.abs(distance) >= ms) ?? [null, 1];
  return unit === null ? text.justNow : FORMAT.format(Math.trunc(distance / length), unit);
}
