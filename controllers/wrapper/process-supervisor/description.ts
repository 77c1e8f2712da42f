/** What the supervisor knows and is about to do, as durations from now: the node's answer to `why`. Pure. */
import type { InstanceDescription } from '../../../src/model/instance-description.js';
import { goalOf, type SupervisorFacts } from './goal.js';
import { forgivenInMs, nextSignalInMs, retryInMs } from './plan.js';

export type RunDescription = Omit<InstanceDescription, 'exits'>;

/** `now`: monotonic ms. Undefined: nothing is known of the instance yet. */
export function describeRun(facts: SupervisorFacts, now: number): RunDescription | undefined {
  const { handle } = facts;
  if (handle === undefined) return undefined;
  const { stopping, problem } = handle;
  return {
    goal: goalOf(facts),
    run: handle.run,
    pid: handle.process?.pid ?? null,
    upForMs: handle.process === null || handle.upSince === null ? null : now - handle.upSince,
    restarts: handle.restarts,
    failuresInARow: handle.streak,
    isStarting: handle.isStarting,
    isPrepared: handle.isPrepared,
    hasRemains: handle.process === null && handle.hasRemains,
    stop:
      stopping === null
        ? null
        : {
            signal: stopping.signal,
            sentAgoMs: now - stopping.signalledAt,
            killInMs: stopping.signal === 'SIGKILL' ? null : Math.max(0, nextSignalInMs(stopping, now)),
          },
    retryInMs: handle.process === null ? retryInMs(facts, handle, now) : null,
    forgivenInMs: forgivenInMs(handle, now),
    problem: problem === null ? null : { reason: problem.reason, message: problem.message },
    runtimeProblem: facts.runtimeProblem,
  };
}
