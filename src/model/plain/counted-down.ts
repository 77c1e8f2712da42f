/** Keeps the time in a message true while it passes. The page loads this file too, so it imports nothing. */

const WAIT = /\b(restart \d+ in|next try in|waits) (\d+(?:\.\d)?) (s|min|h)\b/;
const SECONDS_OF: Readonly<Record<string, number>> = { s: 1, min: 60, h: 3600 };

/** A message that was written `agoMs` ago, with the time to the next start that is left now. */
export function countedDown(message: string, agoMs: number): string {
  return message.replace(WAIT, (_whole, before: string, count: string, unit: string) => {
    const left = Number(count) * (SECONDS_OF[unit] ?? 1) - Math.max(0, agoMs) / 1000;
    return `${before} ${Math.max(0, Math.round(left))} s`;
  });
}
