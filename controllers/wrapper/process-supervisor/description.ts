/**
 * The knowledge and the plans of the supervisor for one instance, as durations from now: the node's answer to `why`.
 * Pure.
 */
import type { InstanceDescription } from '../../../src/model/run/instance-description.js';
import { pidOf } from '../../../src/model/run/run-identity.js';
import { type Handle, isPrepared, ladderOf, nextStartOf, processOf } from '../../../src/node/handle.js';
import { goalOf, isFinished, type SupervisorFacts } from './goal.js';
import { faultOf } from './liveness.js';
import { forgivenInMs, retryInMs } from './plan.js';
import { awaitedReadiness, sayNotReady } from './readiness-plan.js';
import { killDueInMs, nextSignal } from './stop-ladder.js';

/** How many names of what an end left are told. */
const MOST_LEFT = 20;

/** Describes the present run. `now`: monotonic ms. Undefined: nothing is known of the instance yet. */
export function describeRun(
  facts: SupervisorFacts,
  now: number,
): Omit<InstanceDescription, 'exits'> | undefined {
  const { handle } = facts;
  if (handle === undefined) return undefined;
  const { phase } = handle;
  const { problem } = nextStartOf(handle);
  const isFinal = isFinished(facts, handle);
  return {
    goal: goalOf(facts),
    run: handle.run,
    pid: pidOf(processOf(handle)),
    upForMs: phase.is === 'up' && phase.since !== null ? now - phase.since : null,
    restarts: handle.restarts,
    failuresInARow: handle.streak,
    isStarting: phase.is === 'starting',
    isPrepared: isPrepared(handle),
    hasRemains: phase.is === 'remaining',
    left: phase.is === 'remaining' ? (phase.left ?? []).slice(0, MOST_LEFT) : [],
    isFinished: isFinal,
    readiness: describeReadiness(facts, handle),
    notAlive: phase.is === 'up' ? (faultOf(facts, handle)?.message ?? null) : null,
    stop: describeStop(handle, now),
    retryInMs: isFinal ? null : retryInMs(facts, handle, now),
    forgivenInMs: forgivenInMs(handle, now),
    problem: problem === null ? null : { reason: problem.reason, message: problem.message },
    runtimeProblem: facts.runtimeProblem,
  };
}

function describeReadiness(facts: SupervisorFacts, handle: Handle): InstanceDescription['readiness'] {
  const readiness = awaitedReadiness(facts, handle);
  const { phase } = handle;
  if (readiness === undefined || phase.is !== 'up' || phase.stopping !== null) return null;
  return sayNotReady(facts, handle, readiness);
}

function describeStop(handle: Handle, now: number): InstanceDescription['stop'] {
  const stopping = ladderOf(handle);
  if (stopping === null) return null;
  const { signal, inMs } = nextSignal(stopping, handle.stop, now);
  const killInMs = killDueInMs(stopping, handle.stop, now);
  return {
    signal: stopping.signal === 'none' ? 'nothing' : (stopping.signal ?? 'the stop command'),
    sentAgoMs: now - stopping.signalledAt,
    next: { signal, inMs: Math.max(0, inMs) },
    killInMs: killInMs === null ? null : Math.max(0, killInMs),
    ...(stopping.problem !== undefined && { problem: stopping.problem }),
  };
}
