/** A wait that an abort ends early. */
import type { Clock } from './clock.js';

/** Resolves after `ms`, or as soon as `signal` aborts. The caller checks the signal again. */
export async function pause(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await new Promise<void>((resolve) => {
    const end = (): void => {
      timer.cancel();
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = clock.setTimer(ms, end);
    signal.addEventListener('abort', end, { once: true });
  });
}
