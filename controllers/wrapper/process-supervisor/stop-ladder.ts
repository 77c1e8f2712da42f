/**
 * The ladder of every stop, whoever asked for it (stop, restart, DELETE, Ctrl-C, an assignment that is gone). Processes
 * that a crash, a killed session or a killed owner left behind climb it, too:
 *
 * ```
 * stopCommand ---half of the time---> stopSignal ----------the rest of it---------> SIGKILL, again every second
 *     `--- could not be written, or ---^   |                                          |
 *          only remains are left           |   stopTo main        stopTo all          |
 *                                          +-> main processes     everything          everything
 *                                          |        | have ended, and pipes are read
 *                                          `--------`----------> the rest, shells included
 * ```
 *
 * Where the configuration says so, a process that is up has `expose.leaveSeconds` before the first rung.
 * A ladder without a stop command begins with the signal, and a ladder with a time of 0 begins with SIGKILL. The ladder
 * ends when nothing of the run lives. src/runtime/main-processes.ts draws which processes are main ones.
 *
 * A rung is reached when the runtime has taken it. While the runtime does not answer, the ladder waits at its rung. So
 * SIGKILL comes first only where the time is 0, and each signal has its share of the time. Pure. The handle records when
 * the ladder began, so that the next daemon goes on from there.
 */
import type { StopSettings, StopSignal } from '../../../src/model/stopping.js';
import type { Handle, Remaining, Stopping, Up } from '../../../src/node/handle.js';
import type { SupervisorPlan, SupervisorStep } from './steps.js';

/** How often to look for remains, and for the main processes, of an instance that is being stopped. */
const LOOK_EVERY_MS = 50;
/** The interval of these looks when a stop takes longer than this: each may read the whole of /proc. */
const LOOK_SELDOM_MS = 250;
const SOON_MS = 1000;
/** The interval between SIGKILLs: a process in an uninterruptible call dies later. */
const KILL_AGAIN_MS = 1000;
/** The interval between tries of a rung that the runtime did not take. */
const TRY_AGAIN_MS = 1000;

/** Plans for a process that is up and not wanted. */
export function planStop({ run, stop }: Handle, { stopping }: Up, now: number): SupervisorPlan {
  if (stopping === null && stop.leaveMs > 0 && stop.timeoutMs > 0) return { steps: [{ do: 'leave', run }] };
  const waitMs = stopping === null ? 0 : firstInMs(stopping, stop, now);
  if (waitMs > 0) return { steps: [], recheckInMs: waitMs };
  if (stopping === null || stopping.signal === 'none') return { steps: [firstStep(stop, run)] };
  return planRung(stopping, stop, run, now);
}

/** Plans for an ended process whose remains may live. Remains of a stop have the rest of its time, others all of it. */
export function planRemains({ run, stop }: Handle, phase: Remaining, now: number): SupervisorPlan {
  const { checkedAt, left } = phase;
  const ladder = phase.stopping ?? phase.ending;
  const lookInMs = checkedAt === null ? 0 : checkedAt + lookEveryMs(ladder, now) - now;
  const look: SupervisorPlan =
    lookInMs <= 0 ? { steps: [{ do: 'check-remains', run }] } : { steps: [], recheckInMs: lookInMs };
  if (left === null) return look;
  const waitMs = ladder === null ? 0 : triedAgainInMs(ladder, now);
  if (waitMs > 0) return sooner(look, waitMs);
  // Send the stop signal to the remains, because only the ended process could have read the stop command.
  if (ladder === null || ladder.signal === null || ladder.signal === 'none')
    return { steps: [signalStep(stop.timeoutMs === 0 ? 'SIGKILL' : stop.signal, stop, run)] };
  const next = planRung(ladder, stop, run, now);
  return next.steps.length > 0 ? next : sooner(look, next.recheckInMs);
}

/**
 * Plans for a process that is wanted again, after an earlier stop of its node told it to end. No further signal is
 * sent. When the time of that stop is over and the process still lives, the stop is forgotten.
 */
export function planSpared({ stop }: Handle, stopping: Stopping, now: number): SupervisorPlan {
  const { signal, since, signalledAt } = stopping;
  const isOver = signal === 'none' || signal === 'SIGKILL';
  const leftMs = isOver ? 0 : Math.max(since + stop.timeoutMs, signalledAt + stop.timeoutMs / 2) - now;
  return leftMs <= 0 ? { steps: [{ do: 'settle-stop' }] } : { steps: [], recheckInMs: leftMs };
}

/** The next signal of a stop under way, and when it is due. */
export function nextSignal(
  stopping: Stopping,
  stop: StopSettings,
  now: number,
): { readonly signal: StopSignal; readonly inMs: number } {
  if (stopping.signal === 'none')
    return { signal: stop.timeoutMs === 0 ? 'SIGKILL' : stop.signal, inMs: firstInMs(stopping, stop, now) };
  if (stopping.signal === 'SIGKILL')
    return { signal: 'SIGKILL', inMs: stopping.signalledAt + KILL_AGAIN_MS - now };
  return isSignalLeft(stopping, stop)
    ? { signal: stop.signal, inMs: stopping.since + stop.timeoutMs / 2 - now }
    : { signal: 'SIGKILL', inMs: killDueInMs(stopping, stop, now) ?? 0 };
}

/** Time until the first SIGKILL of a stop under way; null: SIGKILL was already sent. */
export function killDueInMs(stopping: Stopping, stop: StopSettings, now: number): number | null {
  if (stopping.signal === 'SIGKILL') return null;
  if (stopping.signal === 'none') return Math.max(0, firstInMs(stopping, stop, now)) + stop.timeoutMs;
  // A signal that came late, because no daemon or no engine was there, has half of the time all the same.
  const signalAt = isSignalLeft(stopping, stop)
    ? Math.max(now, stopping.since + stop.timeoutMs / 2)
    : stopping.signalledAt;
  return Math.max(stopping.since + stop.timeoutMs, signalAt + stop.timeoutMs / 2) - now;
}

/** True after the stop command, while the stop signal is still to come. */
function isSignalLeft({ signal }: Stopping, stop: StopSettings): boolean {
  return signal === null && stop.signal !== 'SIGKILL';
}

/** The next rung when it is due; until then, looks whether the rest is to get the signal of the main processes. */
function planRung(ladder: Stopping, stop: StopSettings, run: number, now: number): SupervisorPlan {
  const { signal, inMs } = nextSignal(ladder, stop, now);
  if (inMs <= 0) return { steps: [signalStep(signal, stop, run)] };
  if ((ladder.mains ?? []).length === 0) return { steps: [], recheckInMs: inMs };
  const lookInMs = (ladder.lookedAt ?? ladder.signalledAt) + lookEveryMs(ladder, now) - now;
  if (lookInMs <= 0) return { steps: [{ do: 'signal-rest', run }] };
  return { steps: [], recheckInMs: Math.min(inMs, lookInMs) };
}

function lookEveryMs(ladder: Stopping | null, now: number): number {
  const isYoung = ladder === null || ladder.signal === 'none' || now - ladder.since < SOON_MS;
  return isYoung ? LOOK_EVERY_MS : LOOK_SELDOM_MS;
}

function triedAgainInMs({ problem, lookedAt = 0 }: Stopping, now: number): number {
  return problem === undefined ? 0 : lookedAt + TRY_AGAIN_MS - now;
}

/** Time until the first rung, or the next try of any rung. */
function firstInMs(ladder: Stopping, stop: StopSettings, now: number): number {
  const { leftAt } = ladder;
  return Math.max(triedAgainInMs(ladder, now), leftAt === undefined ? 0 : leftAt + stop.leaveMs - now);
}

/** The plan; when it has no step, the instance is looked at again after the shortest of these times. */
export function sooner(
  plan: SupervisorPlan,
  ...rechecks: readonly (number | null | undefined)[]
): SupervisorPlan {
  const waits = [plan.recheckInMs, ...rechecks].filter((ms) => ms != null);
  return plan.steps.length > 0 || waits.length === 0 ? plan : { ...plan, recheckInMs: Math.min(...waits) };
}

function firstStep(stop: StopSettings, run: number): SupervisorStep {
  if (stop.timeoutMs === 0) return signalStep('SIGKILL', stop, run);
  return stop.command === null ? signalStep(stop.signal, stop, run) : { do: 'write-stop-command', run };
}

function signalStep(signal: StopSignal, stop: StopSettings, run: number): SupervisorStep {
  return { do: 'signal', signal, to: signal === 'SIGKILL' ? 'all' : stop.to, run };
}
