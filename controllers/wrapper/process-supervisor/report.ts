/** The report of an instance as a pure function of the facts: state, reason, and a message in words and numbers. */
import type { Report } from '../../../src/channel/messages.js';
import type { InstanceState, Reason } from '../../../src/model/instance.js';
import type { Handle } from '../../../src/node/handle-book.js';
import type { Exit } from '../../../src/runtime/runtime.js';
import { goalOf, type SupervisorFacts, type SupervisorGoal } from './goal.js';

interface Said {
  readonly state: InstanceState;
  readonly reason: Reason | null;
  readonly message: string | null;
}

/** What to tell the master, or undefined while there is nothing worth telling. */
export function describe(facts: SupervisorFacts): Report | undefined {
  const { handle } = facts;
  const goal = goalOf(facts);
  if (handle === undefined || goal === 'wait' || goal === 'forget') return undefined;
  const said = say(facts, handle, goal);
  if (said === undefined) return undefined;
  return {
    id: facts.id,
    restartToken: handle.restartToken,
    ...said,
    pid: handle.process?.pid ?? null,
    restarts: handle.restarts,
    exitCode: handle.exit?.code ?? null,
    exitSignal: handle.exit?.signal ?? null,
    busyPort: handle.problem?.busyPort ?? null,
    ...(handle.problem?.busyProtocol !== undefined && { busyProtocol: handle.problem.busyProtocol }),
    gone: goal === 'remove' && isOver(handle) && (handle.isCleared || handle.static),
  };
}

/** No process and no remains of one. */
export function isOver(handle: Handle): boolean {
  return handle.process === null && !handle.hasRemains;
}

function say(facts: SupervisorFacts, handle: Handle, goal: SupervisorGoal): Said | undefined {
  if (handle.process !== null && handle.stopping === null)
    return { state: 'ONLINE', reason: null, message: null };
  if (!isOver(handle) && handle.stopping !== null) return sayStopping(handle, goal);
  switch (goal) {
    case 'stop':
      return {
        state: 'STOPPED',
        reason: 'stopped',
        message: handle.exit === null ? null : endedWith(handle.exit),
      };
    case 'remove':
      return { state: 'STOPPED', reason: 'removing', message: null };
    case 'pause':
      return {
        state: 'OFFLINE',
        reason: 'node-stopped',
        message: 'its node was stopped; it starts again with the node',
      };
    default:
      return sayDown(facts, handle);
  }
}

function sayStopping(handle: Handle, goal: SupervisorGoal): Said {
  const signal = handle.stopping?.signal ?? 'SIGTERM';
  const why = goal === 'restart' ? 'restarting' : 'stopping';
  return { state: 'ONLINE', reason: 'stopping', message: `${why}: ${signal} sent` };
}

/** Wanted up, but down. */
function sayDown(facts: SupervisorFacts, handle: Handle): Said | undefined {
  const state = handle.exit === null || handle.streak === 0 ? 'CREATING' : 'OFFLINE';
  if (facts.runtimeProblem !== null)
    return { state, reason: 'runtime-unavailable', message: facts.runtimeProblem };
  if (handle.problem !== null) {
    const again = handle.notBefore === null ? '' : `; next try in ${seconds(handle.delayMs)}`;
    return { state, reason: handle.problem.reason, message: handle.problem.message + again };
  }
  if (state === 'OFFLINE' && handle.exit !== null) {
    return { state, reason: 'exited', message: `${endedWith(handle.exit)}, ${nextRestart(handle)}` };
  }
  if (handle.isPrepared || facts.desired?.assignment.templates.length === 0) return undefined;
  return { state, reason: 'installing', message: 'installing templates' };
}

/** How a process ended, as words after its name. */
function endedWith(exit: Exit): string {
  if (exit.signal !== null) return `ended by ${exit.signal}`;
  return exit.code === null ? 'ended while Drover was not running' : `exited with code ${exit.code}`;
}

/** For the log: a stop that was asked for must not read like a crash. */
export function describeEnd(before: Handle, exit: Exit, after: Handle | undefined): string {
  if (before.stopping !== null) return `has stopped: ${endedWith(exit)}`;
  return after === undefined ? endedWith(exit) : `${endedWith(exit)}, ${nextRestart(after)}`;
}

/** Which restart comes, and when. */
function nextRestart(handle: Handle): string {
  const when = handle.notBefore === null ? 'at once' : `in ${seconds(handle.delayMs)}`;
  return `restart ${handle.restarts + 1} ${when}`;
}

function seconds(ms: number): string {
  return ms < 950 ? `${Math.max(1, Math.round(ms / 100)) / 10} s` : `${Math.round(ms / 1000)} s`;
}
