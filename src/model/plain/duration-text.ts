/** How long something takes, as people read it. The page loads this file too, so it imports nothing. */

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** A duration such as `0.4 s`, `12 s`, `5 min`, `2 h 10 min` or `3 d 4 h`; a negative one counts as 0. */
export function durationText(ms: number): string {
  if (ms < 950) return `${Math.max(0, Math.round(ms / 100)) / 10} s`;
  if (ms < 100 * SECOND) return `${Math.round(ms / SECOND)} s`;
  if (ms < HOUR) return `${Math.round(ms / MINUTE)} min`;
  if (ms < DAY) return pair(ms, HOUR, 'h', MINUTE, 'min');
  return pair(ms, DAY, 'd', HOUR, 'h');
}

function pair(ms: number, large: number, largeUnit: string, small: number, smallUnit: string): string {
  const units = Math.round(ms / small);
  const perLarge = large / small;
  const rest = units % perLarge;
  const whole = `${Math.floor(units / perLarge)} ${largeUnit}`;
  return rest === 0 ? whole : `${whole} ${rest} ${smallUnit}`;
}
