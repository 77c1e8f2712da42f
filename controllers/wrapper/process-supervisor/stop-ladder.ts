/**
 * The ladder of every stop, whoever asked for it (stop, restart, DELETE, Ctrl-C, an assignment that is gone):
 *
 * ```
 * stopCommand ---half of the time---> stopSignal ---the rest of it---> SIGKILL, again every second
 *     `--- could not be written, or only remains are left ---^
 * ```
 *
 * Without a stop command it begins with the signal, and with a time of 0 with SIGKILL. It ends when nothing of the run
 * lives. Pure; when it began is kept in the handle, so that the next daemon goes on where this one was.
 */
import type { StopSignal } from '../../../src/model/stopping.js';
import type { Handle } from '../../../src/node/handle-book.js';
import type { SupervisorPlan, SupervisorStep } from './steps.js';

/** How often remains of a stopping instance are looked for; only while it stops. */
const REMAINS_EVERY_MS = 50;
/** The interval between SIGKILLs: a process in an uninterruptible call dies later. */
const KILL_AGAIN_MS = 1000;

type Laddered = Pick<Handle, 'stopping' | 'stop'>;

/** Running, and not wanted. */
export function planStop(handle: Handle, now: number): SupervisorPlan {
  const { run } = handle;
  const next = nextSignal(handle, now);
  if (next === null) return { steps: [firstStep(handle)] };
  return next.inMs <= 0
    ? { steps: [{ do: 'signal', signal: next.signal, run }] }
    : { steps: [], recheckInMs: next.inMs };
}

/** The process ended, but remains may live. A stop gives them its time, a crash does not. */
export function planRemains(handle: Handle, now: number): SupervisorPlan {
  const { stopping, stop, run, remainsCheckedAt } = handle;
  // They did not hear the stop command: it was for the process that is gone.
  if (stopping !== null && stopping.signal === null && remainsCheckedAt !== null)
    return { steps: [{ do: 'signal', signal: isTimeOver(handle, now) ? 'SIGKILL' : stop.signal, run }] };
  if (remainsCheckedAt !== null && now - remainsCheckedAt < REMAINS_EVERY_MS)
    return { steps: [], recheckInMs: remainsCheckedAt + REMAINS_EVERY_MS - now };
  const kill = stopping === null || stopping.signal === 'SIGKILL' || isTimeOver(handle, now);
  return { steps: [{ do: 'check-remains', kill, run }] };
}

/**
 * An instance that is wanted, but was told to end by an earlier stop of its node. Nothing more is done to it; one
 * that outlives the time of that stop counts as going on.
 */
export function planSpared(handle: Handle, now: number): SupervisorPlan {
  const killInMs = killDueInMs(handle, now) ?? 0;
  return killInMs <= 0 ? { steps: [{ do: 'settle-stop' }] } : { steps: [], recheckInMs: killInMs };
}

/** The next signal of a stop under way, and when it is due; null: no stop is under way. */
export function nextSignal(
  { stopping, stop }: Laddered,
  now: number,
): { readonly signal: StopSignal; readonly inMs: number } | null {
  if (stopping === null) return null;
  if (stopping.signal === 'SIGKILL')
    return { signal: 'SIGKILL', inMs: stopping.signalledAt + KILL_AGAIN_MS - now };
  const killInMs = stopping.since + stop.timeoutMs - now;
  const isSignalDue = stopping.signal === null && stop.signal !== 'SIGKILL' && killInMs > 0;
  return isSignalDue
    ? { signal: stop.signal, inMs: stopping.since + stop.timeoutMs / 2 - now }
    : { signal: 'SIGKILL', inMs: killInMs };
}

/** Time until the first SIGKILL of a stop under way; null: none is under way, or it was sent. */
export function killDueInMs({ stopping, stop }: Laddered, now: number): number | null {
  if (stopping === null || stopping.signal === 'SIGKILL') return null;
  return stopping.since + stop.timeoutMs - now;
}

function firstStep({ stop, run }: Handle): SupervisorStep {
  if (stop.timeoutMs === 0) return { do: 'signal', signal: 'SIGKILL', run };
  return stop.command === null
    ? { do: 'signal', signal: stop.signal, run }
    : { do: 'write-stop-command', run };
}

function isTimeOver(handle: Laddered, now: number): boolean {
  return (killDueInMs(handle, now) ?? 0) <= 0;
}
