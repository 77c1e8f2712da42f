/** What the supervisor works towards for one instance, read off the facts in one place. */

import type { Report } from '../../../src/channel/protocol/messages.js';
import { isRestarted } from '../../../src/model/stopping.js';
import type { Desired } from '../../../src/node/desired-copy.js';
import type { Handle } from '../../../src/node/handle-book.js';

export interface SupervisorFacts {
  readonly id: string;
  /** What the master wants; undefined: it wants nothing, or the content of the revision is missing. */
  readonly desired: Desired | undefined;
  /** The node is told to hold this instance. */
  readonly isHeld: boolean;
  /** The master has said, in this run of the daemon, all that this node should hold. */
  readonly isConfirmed: boolean;
  readonly handle: Handle | undefined;
  readonly reported: Report | undefined;
  /** The operator ended the node with Ctrl-C: everything stops, nothing desired changes. */
  readonly isNodeStopping: boolean;
  /** Null: the node offers the runtime; else why not. */
  readonly runtimeProblem: string | null;
  /** The run of which it is being looked whether it is ready; null: none. */
  readonly checkedRun: number | null;
}

export type SupervisorGoal =
  | 'run'
  /** Desired `run`, but a restart was asked for: end the process, then start afresh. */
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
  return handle !== undefined && handle.restartToken !== assignment.restartToken ? 'restart' : 'run';
}

/**
 * What runs may have been started for newer wishes than those that had reached the disk when the last daemon was
 * killed: a process that nobody has begun to end is not ended before a master says so again.
 */
function mayBeOutdated({ handle, isConfirmed, isNodeStopping }: SupervisorFacts): boolean {
  return !isConfirmed && !isNodeStopping && handle?.process != null && handle.stopping === null;
}

/** Wanted, but it ended by itself, and its restart policy does not start it again until somebody asks for that. */
export function isFinished({ desired }: Pick<SupervisorFacts, 'desired'>, handle: Handle): boolean {
  const { process, isStarting, hasEnded, exit } = handle;
  if (desired === undefined || desired.assignment.goal !== 'run' || !hasEnded || exit === null) return false;
  const isAsked = desired.assignment.restartToken !== handle.restartToken;
  const isDown = process === null && !isStarting;
  return isDown && !isAsked && !isRestarted(desired.configuration.restartPolicy, exit);
}
