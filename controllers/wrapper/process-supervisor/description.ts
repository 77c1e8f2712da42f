/**
 * What the supervisor knows of an instance and is about to do, as durations from now: the node's answer to `why`.
 * Pure.
 */
import type { InstanceDescription } from '../../../src/model/run/instance-description.js';
import { pidOf } from '../../../src/model/run/run-identity.js';
import type { Handle } from '../../../src/node/handle-book.js';
import { goalOf, isFinished, type SupervisorFacts } from './goal.js';
import { forgivenInMs, retryInMs } from './plan.js';
import { awaitedReadiness, sayNotReady } from './readiness-plan.js';
import { killDueInMs, nextSignal } from './stop-ladder.js';

export type RunDescription = Omit<InstanceDescription, 'exits'>;

/** `now`: monotonic ms. Undefined: nothing is known of the instance yet. */
export function describeRun(facts: SupervisorFacts, now: number): RunDescription | undefined {
  const { handle } = facts;
  if (handle === undefined) return undefined;
  const { problem } = handle;
  const isDown = handle.process === null;
  return {
    goal: goalOf(facts),
    run: handle.run,
    pid: pidOf(handle.process),
    upForMs: isDown || handle.upSince === null ? null : now - handle.upSince,
    restarts: handle.restarts,
    failuresInARow: handle.streak,
    isStarting: handle.isStarting,
    isPrepared: handle.isPrepared,
    hasRemains: isDown && handle.hasRemains,
    isFinished: isFinished(facts, handle),
    readiness: describeReadiness(facts, handle),
    stop: describeStop(handle, now),
    retryInMs: isDown && !isFinished(facts, handle) ? retryInMs(facts, handle, now) : null,
    forgivenInMs: forgivenInMs(handle, now),
    problem: problem === null ? null : { reason: problem.reason, message: problem.message },
    runtimeProblem: facts.runtimeProblem,
  };
}

function describeReadiness(facts: SupervisorFacts, handle: Handle): RunDescription['readiness'] {
  const readiness = awaitedReadiness(facts, handle);
  if (readiness === undefined || handle.process === null || handle.stopping !== null) return null;
  return sayNotReady(facts, handle, readiness);
}

function describeStop(handle: Handle, now: number): RunDescription['stop'] {
  const { stopping } = handle;
  const next = nextSignal(handle, now);
  if (stopping === null || next === null) return null;
  const killInMs = killDueInMs(handle, now);
  return {
    signal: stopping.signal ?? 'the stop command',
    sentAgoMs: now - stopping.signalledAt,
    next: { signal: next.signal, inMs: Math.max(0, next.inMs) },
    killInMs: killInMs === null ? null : Math.max(0, killInMs),
  };
}
