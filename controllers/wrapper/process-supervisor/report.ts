/** Makes the report of an instance, a pure function of the facts: state, reason, and a message in words and numbers. */
import type { Report } from '../../../src/channel/protocol/messages.js';
import type { InstanceState, Reason } from '../../../src/model/instance.js';
import { pidOf } from '../../../src/model/run/run-identity.js';
import { isRestarted, type RestartPolicy } from '../../../src/model/stopping.js';
import { durationText } from '../../../src/model/words.js';
import type { Handle } from '../../../src/node/handle-book.js';
import type { Exit } from '../../../src/runtime/runtime.js';
import { goalOf, isFinished, type SupervisorFacts, type SupervisorGoal } from './goal.js';
import { awaitedReadiness, sayNotReady } from './readiness-plan.js';

interface Said {
  readonly state: InstanceState;
  readonly reason: Reason | null;
  readonly message: string | null;
}

/** The report for the master; undefined: nothing is worth reporting yet. */
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
    ...(handle.warning !== null && { warning: handle.warning }),
    pid: pidOf(handle.process),
    restarts: handle.restarts,
    exitCode: handle.exit?.code ?? null,
    exitSignal: handle.exit?.signal ?? null,
    busyPort: handle.problem?.busyPort ?? null,
    ...(handle.problem?.busyProtocol !== undefined && { busyProtocol: handle.problem.busyProtocol }),
    gone: goal === 'remove' && isOver(handle) && (handle.isCleared || handle.static),
  };
}

/** Neither the process nor remains of it live. */
export function isOver(handle: Handle): boolean {
  return handle.process === null && !handle.hasRemains;
}

function say(facts: SupervisorFacts, handle: Handle, goal: SupervisorGoal): Said | undefined {
  if (handle.process !== null && handle.stopping === null) return sayUp(facts, handle);
  if (!isOver(handle) && handle.stopping !== null) return sayStopping(facts, handle, goal);
  if (isFinished(facts, handle)) return sayFinished(facts, handle);
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

/**
 * The report of a running process: ONLINE once it is ready. After a crash it stays OFFLINE until then, so that
 * clients are not sent there.
 */
function sayUp(facts: SupervisorFacts, handle: Handle): Said {
  const readiness = awaitedReadiness(facts, handle);
  if (readiness === undefined)
    return { state: 'ONLINE', reason: null, message: handle.installed?.behind ?? null };
  return { state: stateUnready(handle), ...sayNotReady(facts, handle, readiness) };
}

function stateUnready({ hasEnded }: Handle): InstanceState {
  return hasEnded ? 'OFFLINE' : 'CREATING';
}

/** No report while its remains are being ended. */
function sayFinished({ desired }: SupervisorFacts, handle: Handle): Said | undefined {
  if (handle.exit === null || !isOver(handle)) return undefined;
  const message = `${endedWith(handle.exit)}; ${notAgain(handle.exit, desired?.configuration.restartPolicy)}`;
  return { state: 'STOPPED', reason: 'exited', message };
}

function notAgain(exit: Exit, policy: RestartPolicy = 'always'): string {
  const waits = isRestarted(policy, exit) ? 'holds from its next start on' : 'does not start it again';
  return `restartPolicy ${policy} ${waits}`;
}

/** What was never ready does not become ONLINE by being stopped. */
function sayStopping(facts: SupervisorFacts, handle: Handle, goal: SupervisorGoal): Said {
  const said = handle.stopping?.signal ?? 'stop command';
  const why = goal === 'restart' ? 'restarting' : 'stopping';
  const state = awaitedReadiness(facts, handle) === undefined ? 'ONLINE' : stateUnready(handle);
  return { state, reason: 'stopping', message: `${why}: ${said} sent` };
}

/** The report of an instance that is wanted up, but is down. */
function sayDown(facts: SupervisorFacts, handle: Handle): Said | undefined {
  const state = handle.exit === null || handle.streak === 0 ? 'CREATING' : 'OFFLINE';
  if (handle.isStarting && handle.progress !== null)
    return { state, reason: 'starting', message: handle.progress };
  if (facts.runtimeProblem !== null)
    return { state, reason: 'runtime-unavailable', message: facts.runtimeProblem };
  if (handle.problem !== null) {
    const again = handle.notBefore === null ? '' : `; next try in ${durationText(handle.delayMs)}`;
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
  if (exit.cause !== undefined) return exit.cause;
  if (exit.signal !== null) return `ended by ${exit.signal}`;
  return exit.code === null ? 'ended while Drover was not running' : `exited with code ${exit.code}`;
}

type Ended = Pick<SupervisorFacts, 'desired' | 'handle'>;

/** The same for the log: a stop that somebody asked for must not read like a crash. */
export function describeEnd(before: Handle, exit: Exit, { desired, handle: after }: Ended): string {
  if (before.stopping !== null) return `has stopped: ${endedWith(exit)}`;
  if (after !== undefined && isFinished({ desired }, after))
    return `${endedWith(exit)}; ${notAgain(exit, desired?.configuration.restartPolicy)}`;
  return after === undefined ? endedWith(exit) : `${endedWith(exit)}, ${nextRestart(after)}`;
}

/** Which restart comes, and when. */
function nextRestart(handle: Handle): string {
  const when = handle.notBefore === null ? 'at once' : `in ${durationText(handle.delayMs)}`;
  return `restart ${handle.restarts + 1} ${when}`;
}
