/** How long an instance waits for its next start after it ended or could not be started. */

import { backoffMs } from '../../../src/loop/backoff.js';
import { type Exit, KEPT_EXITS, type PastRun } from '../../../src/model/run/past-exit.js';
import {
  AT_ONCE,
  changed,
  ended,
  type Handle,
  type NextStart,
  type Problem,
  stoppingOf,
} from '../../../src/node/handle.js';

/** How long an instance must be up to count as healthy: its next exit then counts as its first failure. */
export const STABLE_AFTER_MS = 60_000;
const DELAY = { baseMs: 1000, maxMs: 60_000 };

/**
 * The delay before the restart after `streak` failures in a row. The first restart is at once, the second after 1 s,
 * then twice as long each time up to 60 s. `jitter`, in [0, 1), shortens a delay by up to a fifth, so that instances
 * that crashed together do not restart together.
 */
function restartDelayMs(streak: number, jitter: number): number {
  if (streak <= 1) return 0;
  return backoffMs(streak - 2, DELAY) * (1 - jitter / 5);
}

/** An exit, with the highest memory use that was measured in the run. */
type MeasuredExit = Exit & { readonly mostMemoryBytes?: number | undefined };

/** The past runs of an instance, with the run that has ended now. */
export function withPast(
  { run, begunAt, exits }: Handle,
  { isOutOfMemory: _, output, mostMemoryBytes, ...how }: MeasuredExit,
  wasAsked: boolean,
): readonly PastRun[] {
  const began = { ...(begunAt !== null && { begunAt }), ...(mostMemoryBytes != null && { mostMemoryBytes }) };
  return [{ ...how, run, ...began, wasAsked, output: output ?? null }, ...exits].slice(0, KEPT_EXITS);
}

/** The handle after its process ended. An exit in a stop that was asked for is no failure. */
export function afterExit(handle: Handle, exit: MeasuredExit, now: number, jitter: number): Handle {
  const { code, signal, at, cause } = exit;
  const wasAsked = stoppingOf(handle) !== null;
  const how = { code, signal, at, ...(cause !== undefined && { cause }) };
  const exits = withPast(handle, exit, wasAsked);
  if (wasAsked) return ended(changed(handle, { exit: how, exits, end: 'asked', streak: 0 }), AT_ONCE);
  const upSince = handle.phase.is === 'up' ? handle.phase.since : null;
  const wasStable = upSince !== null && now - upSince >= STABLE_AFTER_MS;
  const streak = wasStable ? 1 : handle.streak + 1;
  return ended(
    changed(handle, { exit: how, exits, end: 'unasked', streak }),
    delayed(streak, null, now, jitter),
  );
}

/** The number of failures in a row after an install or a start failed, and the time of the next try. */
export function afterFailure(
  { streak }: Handle,
  problem: Problem,
  now: number,
  jitter: number,
): { readonly streak: number; readonly next: NextStart } {
  // A failed install or start counts as two failures at least: an immediate second try would fail again.
  const failures = Math.max(2, streak + 1);
  return { streak: failures, next: delayed(failures, problem, now, jitter) };
}

function delayed(streak: number, problem: Problem | null, now: number, jitter: number): NextStart {
  const ms = restartDelayMs(streak, jitter);
  return { problem, delay: ms === 0 ? null : { until: now + ms, ms } };
}
