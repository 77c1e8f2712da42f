/** Reads the supervisor's goal for one instance off the facts, in one place. */

import type { Assignment, Report } from '../../../src/channel/protocol/messages.js';
import { isRestarted } from '../../../src/model/stopping.js';
import type { Desired } from '../../../src/node/desired-copy.js';
import type { Handle } from '../../../src/node/handle-book.js';

export interface SupervisorFacts {
  readonly id: string;
  /** What the master wants; undefined: it wants nothing, or the content of the revision is missing. */
  readonly desired: Desired | undefined;
  /** The node is told to hold this instance. */
  readonly isHeld: boolean;
  /** In this run of the daemon the master has said all that this node should hold. */
  readonly isConfirmed: boolean;
  readonly handle: Handle | undefined;
  readonly reported: Report | undefined;
  /** The operator ended the node with Ctrl-C: everything stops, and nothing desired changes. */
  readonly isNodeStopping: boolean;
  /** Why the node does not offer the runtime; null: it offers it. */
  readonly runtimeProblem: string | null;
  /** The run under readiness check, or null. */
  readonly checkedRun: number | null;
  /** That check asks for something else than the configuration does by now. */
  readonly isCheckOutdated: boolean;
}

export type SupervisorGoal =
  | 'run'
  /** Desired `run`, and a restart was asked for, or it has another port now: end the process, then start afresh. */
  | 'restart'
  | 'stop'
  /** Desired `run`, but the whole node is being stopped. */
  | 'pause'
  | 'remove'
  /** No longer assigned: end it, clear it, and forget it. */
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
 * Whether the run has a port that the master has taken back. A port that was busy is tried again, and may be free just
 * when the master gives another one. Nobody is sent to the former port, and the next instance may get it.
 */
function hasFormerPort({ port }: Assignment, handle: Handle): boolean {
  const isRun = handle.process !== null || handle.isStarting;
  return isRun && handle.port !== undefined && handle.port !== port;
}

/**
 * Whether what is desired of a running process may be older than the process: a kill of the last daemon may have lost
 * newer wishes. Such a process is left alone until the master has spoken, unless a stop of it is under way.
 */
function mayBeOutdated({ handle, isConfirmed, isNodeStopping }: SupervisorFacts): boolean {
  return !isConfirmed && !isNodeStopping && handle?.process != null && handle.stopping === null;
}

/**
 * The instance is wanted, but it ended by itself, and its restart policy waits for somebody to ask for a start. Once the
 * master knows, another policy changes nothing: what the instance held may be another one's.
 */
export function isFinished({ desired }: Pick<SupervisorFacts, 'desired'>, handle: Handle): boolean {
  const { process, isStarting, hasEnded, hasFinished, exit } = handle;
  if (desired === undefined || desired.assignment.goal !== 'run' || !hasEnded || exit === null) return false;
  const isAsked = desired.assignment.restartToken !== handle.restartToken;
  const isDown = process === null && !isStarting;
  return isDown && !isAsked && (hasFinished || !isRestarted(desired.configuration.restartPolicy, exit));
}
