/**
 * How long a command waits while several masters have no leader. Most elections take a few seconds. A request refused
 * for this reason was not begun, so it may be repeated.
 */
import { setTimeout as pause } from 'node:timers/promises';

const PATIENCE_MS = 15_000;
const WAITS = `no master leads at this moment: trying again for ${PATIENCE_MS / 1000} s`;

/**
 * Returns a function that waits before the next try of one request. It answers false when the time is used up, and
 * rejects when `signal` aborts. `say` is called once, before the first wait. Absent: the function answers false at
 * once.
 */
export function electionPatience(
  say: ((line: string) => void) | undefined,
  signal?: AbortSignal,
): (afterMs: number) => Promise<boolean> {
  let endsAt: number | undefined;
  return async (afterMs) => {
    if (say === undefined) return false;
    const now = performance.now();
    if (endsAt === undefined) say(WAITS);
    endsAt ??= now + PATIENCE_MS;
    if (now + afterMs > endsAt) return false;
    await pause(afterMs, undefined, { ...(signal !== undefined && { signal }) });
    return true;
  };
}
