/**
 * The ladder of every stop, whoever asked for it (stop, restart, DELETE, Ctrl-C, an assignment that is gone):
 *
 * ```
 * stopCommand ---half of the time---> stopSignal ---the rest of it---> SIGKILL, again every second
 *     `--- could not be written, or only remains are left ---^
 * ```
 *
 * A ladder without a stop command begins with the signal, and a ladder with a time of 0 begins with SIGKILL. The ladder
 * ends when nothing of the run lives. Pure. The handle records when the ladder began,
 * so that the next daemon goes on from there.
 */
import type { StopSettings, StopSignal } from '../../../src/model/stopping.js';
import type { Handle, Remaining, Stopping, Up } from '../../../src/node/handle.js';
import type { SupervisorPlan, SupervisorStep } from './steps.js';

/** How often to look for remains of an instance that is being stopped. */
const REMAINS_EVERY_MS = 50;
/** The interval between SIGKILLs: a process in an uninterruptible call dies later. */
const KILL_AGAIN_MS = 1000;

/** Plans for a process that is up and not wanted. */
export function planStop({ run, stop }: Handle, { stopping }: Up, now: number): SupervisorPlan {
  if (stopping === null) return { steps: [firstStep(stop, run)] };
  const { signal, inMs } = nextSignal(stopping, stop, now);
  return inMs <= 0 ? { steps: [{ do: 'signal', signal, run }] } : { steps: [], recheckInMs: inMs };
}

/**
 * Plans for an ended process whose remains may live. After a stop the remains get the time of that stop; after a crash
 * they are killed at once.
 */
export function planRemains(
  { run, stop }: Handle,
  { stopping, checkedAt }: Remaining,
  now: number,
): SupervisorPlan {
  const isTimeOver = stopping === null || (killDueInMs(stopping, stop, now) ?? 0) <= 0;
  // Send the stop signal to the remains, because only the ended process could have read the stop command.
  if (stopping?.signal === null && checkedAt !== null)
    return { steps: [{ do: 'signal', signal: isTimeOver ? 'SIGKILL' : stop.signal, run }] };
  if (checkedAt !== null && now - checkedAt < REMAINS_EVERY_MS)
    return { steps: [], recheckInMs: checkedAt + REMAINS_EVERY_MS - now };
  return { steps: [{ do: 'check-remains', kill: isTimeOver, run }] };
}

/**
 * Plans for a process that is wanted again, after an earlier stop of its node told it to end. No further signal is
 * sent. When the time of that stop is over and the process still lives, the stop is forgotten.
 */
export function planSpared({ stop }: Handle, stopping: Stopping, now: number): SupervisorPlan {
  const killInMs = killDueInMs(stopping, stop, now) ?? 0;
  return killInMs <= 0 ? { steps: [{ do: 'settle-stop' }] } : { steps: [], recheckInMs: killInMs };
}

/** The next signal of a stop under way, and when it is due. */
export function nextSignal(
  stopping: Stopping,
  stop: StopSettings,
  now: number,
): { readonly signal: StopSignal; readonly inMs: number } {
  if (stopping.signal === 'SIGKILL')
    return { signal: 'SIGKILL', inMs: stopping.signalledAt + KILL_AGAIN_MS - now };
  const killInMs = stopping.since + stop.timeoutMs - now;
  const isSignalDue = stopping.signal === null && stop.signal !== 'SIGKILL' && killInMs > 0;
  return isSignalDue
    ? { signal: stop.signal, inMs: stopping.since + stop.timeoutMs / 2 - now }
    : { signal: 'SIGKILL', inMs: killInMs };
}

/** Time until the first SIGKILL of a stop under way; null: SIGKILL was already sent. */
export function killDueInMs(stopping: Stopping, stop: StopSettings, now: number): number | null {
  return stopping.signal === 'SIGKILL' ? null : stopping.since + stop.timeoutMs - now;
}

function firstStep(stop: StopSettings, run: number): SupervisorStep {
  if (stop.timeoutMs === 0) return { do: 'signal', signal: 'SIGKILL', run };
  return stop.command === null
    ? { do: 'signal', signal: stop.signal, run }
    : { do: 'write-stop-command', run };
}
