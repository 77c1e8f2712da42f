/** Reads the supervisor's goal for one instance off the facts, in one place. */

import type { Assignment, Report } from '../../../src/channel/protocol/messages.js';
import { isRestarted } from '../../../src/model/stopping.js';
import type { Desired } from '../../../src/node/desired-copy.js';
import { type Handle, stoppingOf } from '../../../src/node/handle.js';

export interface SupervisorFacts {
  readonly id: string;
  /** The assignment and its content; undefined: the master wants nothing, or the content of the revision is missing. */
  readonly desired: Desired | undefined;
  /** True when the node is told to hold this instance. */
  readonly isHeld: boolean;
  /** True when the master has said, in this run of the daemon, all that this node should hold. */
  readonly isConfirmed: boolean;
  readonly handle: Handle | undefined;
  readonly reported: Report | undefined;
  /** True when the operator ended the node with Ctrl-C: everything stops, and nothing desired changes. */
  readonly isNodeStopping: boolean;
  /** Why the node does not offer the runtime; null: it offers it. */
  readonly runtimeProblem: string | null;
  /** The run under readiness check, or null. */
  readonly checkedRun: number | null;
  /** True when the check under way asks for something else than the configuration does by now. */
  readonly isCheckOutdated: boolean;
}

export type SupervisorGoal =
  | 'run'
  /** Desired `run`, and a restart was asked for, or the port is another one now: end the process, then start afresh. */
  | 'restart'
  | 'stop'
  /** Desired `run`, but the whole node is being stopped. */
  | 'pause'
  | 'remove'
  /** No longer assigned: end the process, clear the directory, and forget the instance. */
  | 'forget'
  /** Not enough is known: leave things as they are. */
  | 'wait';

export function goalOf(facts: SupervisorFacts): SupervisorGoal {
  const { desired } = facts;
  if (desired === undefined) {
    if (facts.isNodeStopping) return 'pause';
    return facts.isHeld || !facts.isConfirmed ? 'wait' : 'forget';
  }
  const goal = desiredGoal(desired, facts);
  return goal !== 'run' && goal !== 'pause' && mayBeOutdated(facts) ? 'wait' : goal;
}

function desiredGoal({ assignment }: Desired, { handle, isNodeStopping }: SupervisorFacts): SupervisorGoal {
  if (assignment.goal !== 'run') return assignment.goal;
  if (isNodeStopping) return 'pause';
  if (handle === undefined) return 'run';
  return handle.restartToken !== assignment.restartToken || hasFormerPort(assignment, handle)
    ? 'restart'
    : 'run';
}

/**
 * True when the run has a port that the master has taken back. A busy port is tried again, and may be free just when the
 * master gives another one. The master sends no client to the former port, and may give it to the next instance.
 */
function hasFormerPort({ port }: Assignment, handle: Handle): boolean {
  return isRunning(handle) && handle.port !== undefined && handle.port !== port;
}

/** True when a restart was asked for and the node has not acted on it yet. */
export function isRestartAsked({ desired }: Pick<SupervisorFacts, 'desired'>, handle: Handle): boolean {
  return desired !== undefined && desired.assignment.restartToken !== handle.restartToken;
}

/** True when the desired content is that of the present run. A restart that is asked for may bring another content. */
export function isOfItsRun({ desired }: Pick<SupervisorFacts, 'desired'>, handle: Handle): boolean {
  return desired !== undefined && !isRestartAsked({ desired }, handle);
}

/**
 * True when the desired state of a running process may be older than the process: a kill of the last daemon may have
 * lost newer wishes. Such a process is left alone until the master has spoken, unless a stop of it is under way.
 */
function mayBeOutdated({ handle, isConfirmed, isNodeStopping }: SupervisorFacts): boolean {
  return !isConfirmed && !isNodeStopping && handle?.phase.is === 'up' && stoppingOf(handle) === null;
}

/**
 * True when the instance is wanted, but ended by itself, and its restart policy waits for a start that is asked for.
 * Once the master knows, another policy changes nothing: another instance may have the port and the RAM by then.
 */
export function isFinished({ desired }: Pick<SupervisorFacts, 'desired'>, handle: Handle): boolean {
  const { end, exit } = handle;
  if (desired?.assignment.goal !== 'run' || isRestartAsked({ desired }, handle)) return false;
  if (isRunning(handle) || end === 'asked' || exit === null) return false;
  return end === 'final' || !isRestarted(desired.configuration.restartPolicy, exit);
}

/** True when the process of the run lives, or its start is under way. */
function isRunning({ phase }: Handle): boolean {
  return phase.is === 'up' || phase.is === 'starting';
}
