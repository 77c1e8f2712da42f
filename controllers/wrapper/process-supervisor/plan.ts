/**
 * The supervisor's decisions: bring the process of one instance from what it is to what it should be, one small
 * step at a time. Starting needs a prepared working directory (the template installer's business), and nothing is
 * started while anything of the last run may live.
 */
import type { Report } from '../../../src/channel/messages.js';
import type { Plan } from '../../../src/loop/reconciler.js';
import type { Handle, Stopping } from '../../../src/node/handle-book.js';
import { isSameReport } from '../../../src/node/status-outbox.js';
import { goalOf, type SupervisorFacts, type SupervisorGoal } from './goal.js';
import { describe, isOver } from './report.js';
import { STABLE_AFTER_MS } from './restart-delay.js';

/** From SIGTERM to SIGKILL. */
export const STOP_TIMEOUT_MS = 10_000;
/** How often the remains of a stopping instance are looked for; only while it stops. */
const REMAINS_EVERY_MS = 50;
/** SIGKILL is sent again after this long: a process in an uninterruptible call dies later. */
const KILL_AGAIN_MS = 1000;

export type SupervisorStep =
  /** Begin to keep a handle for an instance that is new here. */
  | { readonly do: 'open' }
  /** A handle that was made without its configuration (the node's own store was lost) learns what it is. */
  | { readonly do: 'identify' }
  | { readonly do: 'report'; readonly report: Report }
  | { readonly do: 'start' }
  /** Send the signal to everything of the run, and note when. */
  | { readonly do: 'signal'; readonly signal: NodeJS.Signals; readonly run: number }
  /** See whether anything of an ended run lives; note it when nothing does, end it with SIGKILL when `kill`. */
  | { readonly do: 'check-remains'; readonly kill: boolean; readonly run: number }
  /** The process has been up long enough: its failures are forgotten. */
  | { readonly do: 'forgive' }
  /** The stop is complete. */
  | { readonly do: 'settle-stop' }
  /** Nothing of before the restart request lives any more: the request counts as acted on. */
  | { readonly do: 'accept-restart'; readonly restartToken: number }
  | { readonly do: 'clear-workspace' }
  | { readonly do: 'forget' };

type SupervisorPlan = Plan<SupervisorStep>;

export function plan(facts: SupervisorFacts, now: number): SupervisorPlan {
  const { handle } = facts;
  if (handle === undefined) return { steps: facts.desired === undefined ? [] : [{ do: 'open' }] };
  if (isMistaken(facts, handle)) return { steps: [{ do: 'identify' }] };
  const action = planAction(facts, handle, goalOf(facts), now);
  const report = describe(facts);
  const isNews =
    report !== undefined && !(facts.reported !== undefined && isSameReport(facts.reported, report));
  // What is about to change is not worth telling; what stays, or waits, is.
  const isPassing = action.steps.some(
    (step) => step.do === 'start' || step.do === 'settle-stop' || step.do === 'accept-restart',
  );
  return isNews && !isPassing ? { ...action, steps: [{ do: 'report', report }, ...action.steps] } : action;
}

function planAction(
  facts: SupervisorFacts,
  handle: Handle,
  goal: SupervisorGoal,
  now: number,
): SupervisorPlan {
  // A start under way is answered soon, and looked at then.
  if (goal === 'wait' || handle.isStarting) return { steps: [] };
  if (handle.process !== null) return goal === 'run' ? planUp(handle, now) : planStop(handle, now);
  if (handle.hasRemains) return planRemains(handle, now);
  if (handle.stopping !== null) return { steps: [{ do: 'settle-stop' }] };
  return planDown(facts, handle, goal, now);
}

/** Running and wanted so: nothing to do but to forget its failures in time. */
function planUp(handle: Handle, now: number): SupervisorPlan {
  const leftMs = forgivenInMs(handle, now);
  if (leftMs === null) return { steps: [] };
  return leftMs <= 0 ? { steps: [{ do: 'forgive' }] } : { steps: [], recheckInMs: leftMs };
}

/** Time until the failures of a process that is up are forgotten; null: there is nothing to forget. */
export function forgivenInMs({ process, streak, upSince }: Handle, now: number): number | null {
  return process === null || streak === 0 || upSince === null ? null : upSince + STABLE_AFTER_MS - now;
}

/** Running and not wanted: the ladder SIGTERM, SIGKILL. */
function planStop(handle: Handle, now: number): SupervisorPlan {
  const { stopping, run } = handle;
  if (stopping === null) return { steps: [{ do: 'signal', signal: 'SIGTERM', run }] };
  const leftMs = nextSignalInMs(stopping, now);
  return leftMs <= 0
    ? { steps: [{ do: 'signal', signal: 'SIGKILL', run }] }
    : { steps: [], recheckInMs: leftMs };
}

/** Time until SIGKILL follows the last signal of a stop. */
export function nextSignalInMs({ signal, signalledAt }: Stopping, now: number): number {
  return signalledAt + (signal === 'SIGKILL' ? KILL_AGAIN_MS : STOP_TIMEOUT_MS) - now;
}

/** The process ended, but group members or strays may live: a stop gives them its time, a crash does not. */
function planRemains(handle: Handle, now: number): SupervisorPlan {
  const { stopping, run, remainsCheckedAt } = handle;
  if (remainsCheckedAt !== null && now - remainsCheckedAt < REMAINS_EVERY_MS)
    return { steps: [], recheckInMs: remainsCheckedAt + REMAINS_EVERY_MS - now };
  const kill = stopping === null || stopping.signal === 'SIGKILL' || now - stopping.since >= STOP_TIMEOUT_MS;
  return { steps: [{ do: 'check-remains', kill, run }] };
}

/** Nothing of it lives. */
function planDown(facts: SupervisorFacts, handle: Handle, goal: SupervisorGoal, now: number): SupervisorPlan {
  switch (goal) {
    case 'pause':
    case 'wait':
      return { steps: [] };
    case 'stop':
      // Stopped again before it was started: the master must hear of a stop that is later than that start.
      return { steps: isRestartAsked(facts, handle) ? [acceptRestart(facts, handle)] : [] };
    case 'remove':
      return { steps: needsClearing(handle) ? [{ do: 'clear-workspace' }] : [] };
    case 'forget':
      return { steps: needsClearing(handle) ? [{ do: 'clear-workspace' }] : [{ do: 'forget' }] };
    case 'restart':
      return { steps: [acceptRestart(facts, handle)] };
    case 'run':
      return planStart(facts, handle, now);
    default:
      return goal satisfies never;
  }
}

function isRestartAsked({ desired }: SupervisorFacts, handle: Handle): boolean {
  return desired !== undefined && desired.assignment.restartToken !== handle.restartToken;
}

function acceptRestart({ desired }: SupervisorFacts, handle: Handle): SupervisorStep {
  return { do: 'accept-restart', restartToken: desired?.assignment.restartToken ?? handle.restartToken };
}

function planStart(facts: SupervisorFacts, handle: Handle, now: number): SupervisorPlan {
  if (facts.runtimeProblem !== null) return { steps: [] };
  const recheckInMs = retryInMs(facts, handle, now);
  if (recheckInMs !== null) return { steps: [], recheckInMs };
  return { steps: handle.isPrepared ? [{ do: 'start' }] : [] };
}

/** Time until the next try of what failed; null: it is not put off. */
export function retryInMs({ desired }: SupervisorFacts, handle: Handle, now: number): number | null {
  const port = desired?.assignment.port ?? null;
  const isBusyPortLeft = handle.problem?.busyPort != null && handle.problem.busyPort !== port;
  if (handle.notBefore === null || handle.notBefore <= now || isBusyPortLeft) return null;
  return handle.notBefore - now;
}

function needsClearing(handle: Handle): boolean {
  return isOver(handle) && !handle.static && !handle.isCleared;
}

function isMistaken({ desired }: SupervisorFacts, handle: Handle): boolean {
  if (desired === undefined) return false;
  const { assignment, configuration } = desired;
  return handle.static !== configuration.static || handle.configurationName !== assignment.configurationName;
}
