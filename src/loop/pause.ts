/** A wait that an abort ends early. */
import { Bell } from './bell.js';
import type { Clock } from './clock.js';

/** Resolves after `ms`, or as soon as `signal` aborts. The caller checks the signal again. */
export function pause(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  return new Bell().wait(signal, { clock, ms });
}
