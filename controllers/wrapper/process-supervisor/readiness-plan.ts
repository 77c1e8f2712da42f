/**
 * When a running process counts as ready, and the steps until then. The check begins at once; a process that is late
 * for it is reported, and not ended. Pure.
 */
import { isSameValue } from '../../../src/model/plain/same-value.js';
import { type Readiness, readinessText } from '../../../src/model/readiness.js';
import type { Handle } from '../../../src/node/handle.js';
import { isOfItsRun, type SupervisorFacts } from './goal.js';
import type { SupervisorPlan } from './steps.js';

/** How long the first try of a check may take: it may read a long log. */
const FIRST_TRY_MS = 5000;

/** The steps for a process that is up and wanted. */
export function planReadiness(facts: SupervisorFacts, handle: Handle, now: number): SupervisorPlan {
  const readiness = awaitedReadiness(facts, handle);
  if (readiness === undefined) return { steps: [] };
  const { run, phase } = handle;
  if (facts.check?.run !== run) return { steps: [{ do: 'check-readiness', run }] };
  if (isLate(handle)) return { steps: [] };
  const since = phase.is === 'up' ? phase.since : null;
  const timeoutMs = readiness.timeoutSeconds * 1000;
  // A check that was mended late gets a first try before the run counts as late.
  const triedAt = facts.check.begunAt + Math.min(timeoutMs, FIRST_TRY_MS);
  const leftMs = Math.max((since ?? now) + timeoutMs, triedAt) - now;
  return leftMs <= 0 ? { steps: [{ do: 'note-not-ready', run }] } : { steps: [], recheckInMs: leftMs };
}

/** True when a check is under way whose answer is no longer needed, or that is not the one to pass now. */
export function isCheckIdle(facts: SupervisorFacts, handle: Handle): boolean {
  const { check } = facts;
  if (check === null) return false;
  const { phase, run } = handle;
  const isWaiting = phase.is === 'up' && phase.stopping === null && check.run === run;
  return !isWaiting || !isSameValue(check.wanted, awaitedReadiness(facts, handle));
}

/** The check that a running process has not passed yet; undefined: the process is ready. */
export function awaitedReadiness(
  { desired }: Pick<SupervisorFacts, 'desired'>,
  handle: Handle,
): Readiness | undefined {
  return hasShown(handle) ? undefined : desired?.configuration.readiness;
}

/** True when a run that is being stopped was ready. */
export function wasReady(facts: SupervisorFacts, handle: Handle): boolean {
  return isOfItsRun(facts, handle) ? awaitedReadiness(facts, handle) === undefined : hasShown(handle);
}

/** True when the node has seen that the run is ready, or started it without a check. */
function hasShown({ run, readiness }: Handle): boolean {
  return readiness?.run === run && readiness.isReady;
}

/**
 * The reason and message for the report of a process that is not ready: what the process waits for, or why it is late.
 */
export function sayNotReady(
  { desired }: SupervisorFacts,
  handle: Handle,
  readiness: Readiness,
): { readonly reason: 'starting' | 'not-ready'; readonly message: string } {
  const what = readinessText(readiness, desired?.assignment ?? {});
  const seconds = readiness.timeoutSeconds;
  if (!isLate(handle)) return { reason: 'starting', message: `waiting for ${what}, up to ${seconds} s` };
  const problem = handle.readiness?.problem;
  const why = problem == null ? '' : ` (${problem})`;
  return { reason: 'not-ready', message: `not ready after ${seconds} s: still waiting for ${what}${why}` };
}

function isLate({ run, readiness }: Handle): boolean {
  return readiness?.run === run && !readiness.isReady;
}
