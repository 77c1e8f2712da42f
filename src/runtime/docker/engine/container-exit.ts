/** Reads how a container ended from the engine's description of it. Pure. */

import { signalName } from '../../../files/processes.js';
import type { Exit } from '../../../model/run/past-exit.js';

/** A program that signal n ended exits with 128 + n, through the init program and through every shell. */
const SIGNAL_BASE = 128;
/** Times before this year count as missing: engines write Go's zero time (year 1) for a missing time. */
const LEAST_YEAR = 2000;

export interface ContainerState {
  readonly exitCode: number;
  readonly isOutOfMemory: boolean;
  /** The time of the end in the engine's format; may be empty. */
  readonly finishedAt: string;
}

export const REMOVED_CAUSE = 'its container was removed';

/** The exit that a container's state describes. `now` replaces a missing time. */
export function exitOfState({ exitCode, isOutOfMemory, finishedAt }: ContainerState, now: number): Exit {
  const exit = exitOfCode(exitCode);
  return {
    ...exit,
    at: instantOf(finishedAt) ?? now,
    // Require SIGKILL too: the engine also reports out of memory when only a child was killed and the program ended by
    // itself later.
    ...(isOutOfMemory && exit.signal === 'SIGKILL' && { isOutOfMemory: true }),
  };
}

/** The exit of a removed container. `exitCode` comes from an event before the removal; undefined: there was none. */
export function exitOfRemoved(exitCode: number | undefined, now: number): Exit {
  const known = exitCode === undefined ? { code: null, signal: null } : exitOfCode(exitCode);
  return { ...known, at: now, cause: REMOVED_CAUSE };
}

function exitOfCode(exitCode: number): Pick<Exit, 'code' | 'signal'> {
  const signal = (exitCode > SIGNAL_BASE && signalName(exitCode - SIGNAL_BASE)) || null;
  return { code: signal === null ? exitCode : null, signal };
}

function instantOf(text: string): number | undefined {
  const at = new Date(text);
  return Number.isNaN(at.getTime()) || at.getUTCFullYear() < LEAST_YEAR ? undefined : at.getTime();
}
