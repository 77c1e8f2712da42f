/** Keeps the time in a message true while it passes. The page loads this file too, so it imports what runs in a browser. */
import { durationText } from './duration-text.js';

const WAIT = /\b(restart \d+ in|next try in|waits) (\d+(?:\.\d)?) (s|min|h|d)(?: (\d+) (min|h))?\b/;
const MS_OF: Readonly<Record<string, number>> = { s: 1000, min: 60_000, h: 3_600_000, d: 86_400_000 };

/** A message that was written `agoMs` ago, with the time to the next start that is left now. */
export function countedDown(message: string, agoMs: number): string {
  return message.replace(
    WAIT,
    (_whole, before: string, ...[count, unit, more = '0', small = 's']: string[]) => {
      const given = Number(count) * (MS_OF[unit ?? ''] ?? 0) + Number(more) * (MS_OF[small] ?? 0);
      return `${before} ${durationText(given - Math.max(0, agoMs))}`;
    },
  );
}
