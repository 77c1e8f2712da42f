/**
 * Notes whether an instance was ever ready with its present content. An instance that was never ready may take a
 * repaired content at its next start, because nobody has used the instance. Pure.
 */
import type { InstanceStatus } from '../../model/instance.js';

/**
 * How long an instance without a readiness check must be up to count as ready. Many broken commands run for a moment
 * before they end.
 */
export const READY_AFTER_MS = 60_000;

export interface ReadinessFacts {
  /** The time now, in Unix milliseconds. */
  readonly now: number;
  /** True when the content asks for a readiness check, so that ONLINE means that the check passed. */
  readonly isChecked: boolean;
}

/** The status after a report, with `hasBeenReady` and `upAt` set. */
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
  if (!isReady && upAt === after.upAt) return after;
  const { hasBeenReady: _ready, upAt: _upAt, ...status } = after;
  if (isReady) return { ...status, hasBeenReady: true };
  return upAt === undefined ? { ...status, hasBeenReady: false } : { ...status, hasBeenReady: false, upAt };
}
