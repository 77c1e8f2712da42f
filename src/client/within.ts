/** Asks for optional information, such as names to complete, within a time limit. */
import { setTimeout as pause } from 'node:timers/promises';

/**
 * Resolves with the answer of `ask`, or with undefined when `ask` fails or takes longer than `limitMs`. Never throws.
 */
export async function within<T>(
  limitMs: number,
  ask: (signal: AbortSignal) => Promise<T>,
): Promise<T | undefined> {
  const over = new AbortController();
  // Race against the timer too: some steps ignore the signal, such as a lookup at a silent name service.
  const late = pause(limitMs, undefined, { signal: over.signal }).catch(() => undefined);
  try {
    return await Promise.race([ask(AbortSignal.timeout(limitMs)).catch(() => undefined), late]);
  } finally {
    over.abort();
  }
}
