/** Reads the supervisor's goal for one instance off the facts, in one place. */

import type { Assignment, Report } from '../../../src/channel/protocol/messages.js';
import { type OwnPorts, portsOf } from '../../../src/model/fields/ports.js';
import { isSameValue } from '../../../src/model/plain/same-value.js';
import { isRestarted } from '../../../src/model/stopping.js';
import type { Desired } from '../../../src/node/desired-copy.js';
import { type Handle, stoppingOf } from '../../../src/node/handle.js';
import type { LifeFacts } from './liveness.js';
import type { CheckFacts } from './readiness.js';

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
  /** Why the node does not offer the runtime; null: the node offers the runtime. */
  readonly runtimeProblem: string | null;
  /** The readiness check under way; null: none is. */
  readonly check: CheckFacts | null;
  /** When this daemon last looked whether the run listens on its port, monotonic ms; null: it has not looked. */
  readonly portLookedAt: number | null;
  /** The run that has a control group; null: none has. */
  readonly groupRun: number | null;
  /** The results of the looks at the life of the run; null: its life is not watched yet. */
  readonly life: LifeFacts | null;
}

export type SupervisorGoal =
  | 'run'
  /** Desired `run`, but a restart was requested or the port has changed: end the process, then start anew. */
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
 * True when the run has other ports than the master gives now: the master sends no client there, and may give the port
 * to another instance. This happens when a busy port becomes free just as the master gives another one.
 */
function hasFormerPort(assignment: Assignment, handle: Handle): boolean {
  return isRunning(handle) && hasOtherPorts(assignment, handle);
}

/** True when the ports are known to be others than those of the assignment. */
function hasOtherPorts(assignment: Assignment, known: OwnPorts): boolean {
  return known.port !== undefined && !isSameValue(portsOf(known), portsOf(assignment));
}

/** True when the prepared directory was made for other ports than the next start has. */
export function isForFormerPort(assignment: Assignment, { installed }: Handle): boolean {
  return hasOtherPorts(assignment, installed ?? {});
}

/** True when a restart was asked for and the node has not acted on it yet. */
export function isRestartAsked({ desired }: Pick<SupervisorFacts, 'desired'>, handle: Handle): boolean {
  return desired !== undefined && desired.assignment.restartToken !== handle.restartToken;
}

/** True when the desired content is the content of the present run. A requested restart may bring another content. */
export function isOfItsRun({ desired }: Pick<SupervisorFacts, 'desired'>, handle: Handle): boolean {
  return desired !== undefined && !isRestartAsked({ desired }, handle);
}

/**
 * True when the desired state of a running process may be older than the process, because newer wishes were lost when
 * the last daemon was killed. The process is left alone until the master has spoken, unless it is already being
 * stopped.
 */
function mayBeOutdated({ handle, isConfirmed, isNodeStopping }: SupervisorFacts): boolean {
  return !isConfirmed && !isNodeStopping && handle?.phase.is === 'up' && stoppingOf(handle) === null;
}

/**
 * True when the instance is wanted but ended by itself, and its restart policy leaves the next start to a request. Once
 * the master knows, a new policy changes nothing: another instance may have the port and the RAM.
 */
export function isFinished({ desired }: Pick<SupervisorFacts, 'desired'>, handle: Handle): boolean {
  const { end, exit } = handle;
  if (desired?.assignment.goal !== 'run' || isRestartAsked({ desired }, handle)) return false;
  if (isRunning(handle) || end === 'asked' || exit === null) return false;
  const { restartPolicy, job } = desired.configuration;
  const isSpent = job?.retries !== undefined && handle.restarts >= job.retries;
  return end === 'final' || isSpent || !isRestarted(restartPolicy, exit);
}

/** True when the process of the run lives, or its start is under way. */
function isRunning({ phase }: Handle): boolean {
  return phase.is === 'up' || phase.is === 'starting';
}
