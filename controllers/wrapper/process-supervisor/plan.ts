/**
 * The supervisor's decisions: bring the process of one instance from its observed state to the desired one, one
 * small step at a time. A start needs a working directory, which the template installer prepares. Nothing is
 * started while anything of the last run may live.
 */
import { portsOf } from '../../../src/model/fields/ports.js';
import { isSameValue } from '../../../src/model/plain/same-value.js';
import { stopSettingsOf } from '../../../src/model/stopping.js';
import {
  type Down,
  givenUpFor,
  type Handle,
  hookOf,
  nextStartOf,
  type Starting,
  stoppingOf,
  type Up,
} from '../../../src/node/handle.js';
import { isSameReport } from '../../../src/node/status-outbox.js';
import {
  goalOf,
  isFinished,
  isForFormerPort,
  isRestartAsked,
  type SupervisorFacts,
  type SupervisorGoal,
} from './goal.js';
import { owedHook, planHook, withoutCommand } from './hooks.js';
import { planLiveness } from './liveness.js';
import { planPortLook } from './port-look.js';
import { isCheckIdle, planReadiness } from './readiness-plan.js';
import { describe } from './report.js';
import { STABLE_AFTER_MS } from './restart-delay.js';
import type { SupervisorPlan, SupervisorStep } from './steps.js';
import { planRemains, planSpared, planStop, sooner } from './stop-ladder.js';

/** The steps after which the instance may have another state at once. */
const PASSING: ReadonlySet<SupervisorStep['do']> = new Set([
  'start',
  'settle-stop',
  'accept-restart',
  'close-group',
]);

export function plan(facts: SupervisorFacts, now: number): SupervisorPlan {
  const { handle } = facts;
  if (handle === undefined) return { steps: facts.desired === undefined ? [] : [{ do: 'open' }] };
  if (isMistaken(facts, handle)) return { steps: [{ do: 'identify' }] };
  const action = planAction(facts, handle, goalOf(facts), now);
  const report = describe(facts);
  const isNews =
    report !== undefined && !(facts.reported !== undefined && isSameReport(facts.reported, report));
  // A state that this plan is about to end is not reported. A state that stays, or waits for something, is reported.
  const isPassing = action.steps.some((step) => PASSING.has(step.do));
  return isNews && !isPassing ? { ...action, steps: [{ do: 'report', report }, ...action.steps] } : action;
}

function planAction(
  facts: SupervisorFacts,
  handle: Handle,
  goal: SupervisorGoal,
  now: number,
): SupervisorPlan {
  if (isCheckIdle(facts, handle)) return { steps: [{ do: 'end-readiness-check' }] };
  if (goal === 'wait') return { steps: [] };
  const { phase } = handle;
  const hook = hookOf(handle);
  const mayHookGoOn = hook !== null && (goal === 'run' || hook.kind === 'after');
  switch (phase.is) {
    case 'starting':
      return planStarting(handle.run, phase, mayHookGoOn ? 'run' : goal);
    case 'up':
      if (mayHookGoOn) return planHook(handle, phase, hook.timeoutMs, now);
      return goal === 'run'
        ? planUp(facts, handle, phase, now)
        : planStop(withoutCommand(handle), phase, now);
    case 'remaining':
      return planRemains(handle, phase, now);
    case 'stopped':
      return { steps: [{ do: 'settle-stop' }] };
    case 'down':
      return planDown(facts, handle, phase, goal, now);
    default:
      return phase satisfies never;
  }
}

/**
 * Plans for a start under way. The supervisor looks at a start when the runtime answers, and also before that when the
 * start takes long.
 */
function planStarting(run: number, { isCancelled }: Starting, goal: SupervisorGoal): SupervisorPlan {
  return { steps: goal === 'run' || isCancelled ? [] : [{ do: 'cancel-start', run }] };
}

/** Plans for a process that is up and wanted: awaits its readiness, and forgets its failures in time. */
function planUp(facts: SupervisorFacts, handle: Handle, phase: Up, now: number): SupervisorPlan {
  const { stopping } = phase;
  if (givenUpFor(handle) !== null) return planStop(handle, phase, now);
  if (stopping !== null) return planSpared(handle, stopping, now);
  const leftMs = forgivenInMs(handle, now);
  if (leftMs !== null && leftMs <= 0) return { steps: [{ do: 'forgive' }] };
  const plans = [planReadiness, planLiveness, planPortLook].map((looks) => looks(facts, handle, now));
  const due = plans.find(({ steps }) => steps.length > 0) ?? { steps: [] };
  return sooner(due, leftMs, ...plans.map(({ recheckInMs }) => recheckInMs));
}

/** Time until the failures of a running process are forgotten; null: there are none. */
export function forgivenInMs({ phase, streak }: Handle, now: number): number | null {
  return phase.is !== 'up' || phase.since === null || streak === 0
    ? null
    : phase.since + STABLE_AFTER_MS - now;
}

function planDown(
  facts: SupervisorFacts,
  handle: Handle,
  { directory }: Down,
  goal: SupervisorGoal,
  now: number,
): SupervisorPlan {
  const isToClear = !handle.static && directory !== 'cleared';
  if (owedHook(facts, handle) !== undefined && facts.runtimeProblem === null)
    return { steps: [{ do: 'start' }] };
  // No start will take over the control group.
  if (facts.groupRun !== null && ((goal !== 'run' && goal !== 'restart') || isFinished(facts, handle)))
    return { steps: [{ do: 'close-group', run: facts.groupRun }] };
  switch (goal) {
    case 'pause':
    case 'wait':
      return { steps: [] };
    case 'stop':
      // The instance was stopped before its requested start began. The master must hear of a stop that is newer than
      // that request.
      return { steps: isRestartAsked(facts, handle) ? [acceptRestart(facts, handle)] : [] };
    case 'remove':
      return { steps: isToClear ? [{ do: 'clear-workspace' }] : [] };
    case 'forget':
      return { steps: [{ do: isToClear ? 'clear-workspace' : 'forget' }] };
    case 'restart':
      return { steps: [acceptRestart(facts, handle)] };
    case 'run':
      return planStart(facts, handle, directory === 'prepared', now);
    default:
      return goal satisfies never;
  }
}

function acceptRestart({ desired }: SupervisorFacts, handle: Handle): SupervisorStep {
  return { do: 'accept-restart', restartToken: desired?.assignment.restartToken ?? handle.restartToken };
}

function planStart(facts: SupervisorFacts, handle: Handle, isPrepared: boolean, now: number): SupervisorPlan {
  if (isFinished(facts, handle)) return { steps: [] };
  if (facts.runtimeProblem !== null) return { steps: [] };
  const recheckInMs = retryInMs(facts, handle, now);
  if (recheckInMs !== null) return { steps: [], recheckInMs };
  const isForIt = facts.desired !== undefined && !isForFormerPort(facts.desired.assignment, handle);
  return { steps: isPrepared && isForIt ? [{ do: 'start' }] : [] };
}

/** Time until the next try after a failure; null: no delay. */
export function retryInMs({ desired }: SupervisorFacts, handle: Handle, now: number): number | null {
  const { problem, delay } = nextStartOf(handle);
  const ports = portsOf(desired?.assignment ?? {});
  const isBusyPortLeft = problem?.busyPort != null && !ports.some(({ port }) => port === problem.busyPort);
  if (delay === null || delay.until <= now || isBusyPortLeft) return null;
  return delay.until - now;
}

/** True when the handle's copy of the content is wrong in a field that applies without a restart. */
function isMistaken(facts: SupervisorFacts, handle: Handle): boolean {
  if (facts.desired === undefined) return false;
  const { assignment, configuration } = facts.desired;
  if (handle.configurationName !== assignment.configurationName) return true;
  // Until a requested restart happens, the run is stopped by the stop settings of its own content.
  if (isRestartAsked(facts, handle)) return false;
  if (handle.static !== configuration.static) return true;
  return stoppingOf(handle) === null && !isSameValue(handle.stop, stopSettingsOf(configuration));
}
