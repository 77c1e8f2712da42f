/** How long an instance waits for its next start after it ended or could not be started. */

import { backoffMs } from '../../../src/loop/backoff.js';
import { KEPT_EXITS, type PastRun } from '../../../src/model/run/past-exit.js';
import type { Handle, Problem } from '../../../src/node/handle-book.js';
import type { Exit } from '../../../src/runtime/runtime.js';

/** After this time up an instance counts as healthy: its next exit counts as the first. */
export const STABLE_AFTER_MS = 60_000;
const DELAY = { baseMs: 1000, maxMs: 60_000 };

/**
 * The delay before the restart after `streak` failures in a row. The first one is at once, then 1 s, doubled up to 60 s. Each is
 * shortened by up to a fifth, so that instances that fell together do not rise together. `jitter` is in [0, 1).
 */
function restartDelayMs(streak: number, jitter: number): number {
  if (streak <= 1) return 0;
  return backoffMs(streak - 2, DELAY) * (1 - jitter / 5);
}

/** `mostMemoryBytes`: the most that the run was measured with. */
export type MeasuredExit = Exit & { readonly mostMemoryBytes?: number | undefined };

/** The fields of a handle after its process ended. An exit in a stop that was asked for is no failure. */
export function afterExit(handle: Handle, exit: MeasuredExit, now: number, jitter: number): Partial<Handle> {
  const { code, signal, at, cause, output = null, mostMemoryBytes } = exit;
  const wasAsked = handle.stopping !== null;
  const how = { code, signal, at, ...(cause !== undefined && { cause }) };
  const past: PastRun = {
    ...how,
    run: handle.run,
    ...(handle.begunAt !== null && { begunAt: handle.begunAt }),
    ...(mostMemoryBytes !== undefined && { mostMemoryBytes }),
    wasAsked,
    output,
  };
  const ended = {
    process: null,
    exit: how,
    exits: [past, ...handle.exits].slice(0, KEPT_EXITS),
    upSince: null,
    hasRemains: true,
    remainsCheckedAt: null,
    hasEnded: !wasAsked,
  };
  if (wasAsked) return { ...ended, streak: 0, notBefore: null, delayMs: 0 };
  const wasStable = handle.upSince !== null && now - handle.upSince >= STABLE_AFTER_MS;
  return { ...ended, ...delayed(wasStable ? 1 : handle.streak + 1, now, jitter) };
}

/** The fields of a handle after an install or a start failed. */
export function afterFailure(handle: Handle, problem: Problem, now: number, jitter: number): Partial<Handle> {
  // A failed step, unlike a crash, is not repeated at once: nothing has changed since.
  return { problem, ...delayed(Math.max(2, handle.streak + 1), now, jitter) };
}

function delayed(
  streak: number,
  now: number,
  jitter: number,
): Pick<Handle, 'streak' | 'delayMs' | 'notBefore'> {
  const delayMs = restartDelayMs(streak, jitter);
  return { streak, delayMs, notBefore: delayMs === 0 ? null : now + delayMs };
}
