/**
 * The end of a key, a session or a join token, by the master's wall clock. A clock can be set back: so what a master
 * has once seen to have ended stays ended.
 */
import { z } from 'zod';

/** When a master saw that it had ended, in Unix milliseconds. Absent: no master has seen that. */
export const endedAtSchema = z.number().optional();

interface Ending {
  /** The end that was set; null: never. */
  readonly expiresAt: number | null;
  readonly endedAt?: number | undefined;
}

export function hasEnded({ expiresAt, endedAt }: Ending, now: number): boolean {
  return endedAt !== undefined || (expiresAt !== null && expiresAt <= now);
}
