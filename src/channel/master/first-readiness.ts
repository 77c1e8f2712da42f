/**
 * Notes whether an instance has been ready with the content that it has. One that has not may take a mended content at
 * its next start, because nobody has used it. Pure.
 */
import type { InstanceStatus } from '../../model/instance.js';

/** Without a readiness check, up for so long counts as ready: many a broken command is up for a moment. */
export const READY_AFTER_MS = 60_000;

export interface ReadinessFacts {
  /** Unix milliseconds. */
  readonly now: number;
  /** Its content asks for a readiness check, so ONLINE says that it has passed. */
  readonly isChecked: boolean;
}

/** The status after a report, with `hasBeenReady` and `upAt` brought in line. */
export function withFirstReadiness(
  before: InstanceStatus,
  after: InstanceStatus,
  { now, isChecked }: ReadinessFacts,
): InstanceStatus {
  if (before.hasBeenReady) return after;
  const isUp = after.state === 'ONLINE' && after.pid !== null;
  const wasUpForLong = before.upAt !== undefined && now - before.upAt >= READY_AFTER_MS;
  const isReady = (isUp && isChecked) || wasUpForLong;
  const isSameRun = before.pid !== null && before.pid === after.pid && before.restarts === after.restarts;
  const upAt = (isSameRun ? before.upAt : undefined) ?? (isUp ? now : undefined);
  const { hasBeenReady: _ready, upAt: _upAt, ...status } = after;
  if (isReady) return { ...status, hasBeenReady: true };
  return upAt === undefined ? { ...status, hasBeenReady: false } : { ...status, hasBeenReady: false, upAt };
}
