/** Makes the report of an instance, a pure function of the facts: state, reason, and a message in words and numbers. */

import { BOUNDS, type Report } from '../../../src/channel/protocol/messages.js';
import type { InstanceState, Reason } from '../../../src/model/instance.js';
import { durationText } from '../../../src/model/plain/duration-text.js';
import type { Exit } from '../../../src/model/run/past-exit.js';
import { NO_HOST_PID, pidOf } from '../../../src/model/run/run-identity.js';
import { isRestarted } from '../../../src/model/stopping.js';
import { countText, cutToBytes } from '../../../src/model/words.js';
import {
  givenUpFor,
  type Handle,
  hookOf,
  isPrepared,
  keepsPort,
  nextStartOf,
  processOf,
  type Stopping,
  stoppingOf,
} from '../../../src/node/handle.js';
import { goalOf, isFinished, isOfItsRun, type SupervisorFacts, type SupervisorGoal } from './goal.js';
import { leftText } from './left-behind.js';
import { faultOf } from './liveness.js';
import { portWarning } from './port-look.js';
import { awaitedReadiness, sayNotReady, wasReady } from './readiness-plan.js';

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
  const { problem } = nextStartOf(handle);
  return {
    id: facts.id,
    restartToken: handle.restartToken,
    ...(facts.desired && { revision: facts.desired.assignment.revision }),
    ...said,
    ...warningOf(handle),
    ...installedOf(handle),
    pid: pidOf(processOf(handle)),
    restarts: handle.restarts,
    exitCode: handle.exit?.code ?? null,
    exitSignal: handle.exit?.signal ?? null,
    busyPort: problem?.busyPort ?? null,
    ...(problem?.busyProtocol !== undefined && { busyProtocol: problem.busyProtocol }),
    ...(goal === 'run' && keepsFailing(facts, handle) && { keepsFailing: true }),
    ...(problem?.busyPort != null && keepsPort(handle) && { keepsPort: true }),
    ...endsOf(handle),
    gone: goal === 'remove' && isGone(handle),
  };
}

function installedOf({ phase, installed, begunAt }: Handle): Pick<Report, 'installed'> {
  if (phase.is !== 'up' || installed === null) return {};
  const templates = installed.templates.map(({ group, name, digest }) => ({
    group,
    name,
    digest: digest ?? '',
  }));
  return { installed: { at: installed.at ?? begunAt ?? 0, templates } };
}

/** The ends that nobody asked for, cut to what a report may hold: a runtime's words may be of any length. */
function endsOf({ exits }: Handle): Pick<Report, 'ends'> {
  const ends = exits.flatMap(({ wasAsked, output: _, signal, cause, ...end }) => {
    const said = cause !== undefined && { cause: cutToBytes(cause, BOUNDS.causeBytes) };
    return wasAsked ? [] : [{ ...end, ...said, signal: signal && cutToBytes(signal, BOUNDS.signalBytes) }];
  });
  return ends.length === 0 ? {} : { ends };
}

/**
 * True from the second failure in a row until the failures are forgiven. A finished instance failed when its end with
 * code 0 has a cause: it left a daemon (`causeOfLeft`).
 */
function keepsFailing(facts: SupervisorFacts, handle: Handle): boolean {
  if (isFinished(facts, handle)) return handle.exit?.code === 0 && handle.exit.cause !== undefined;
  return handle.streak > 1;
}

function warningOf(handle: Handle): Pick<Report, 'warning'> {
  const warnings = [handle.warning, portWarning(handle)].filter((text) => text !== null);
  return warnings.length === 0 ? {} : { warning: cutToBytes(warnings.join('; '), BOUNDS.sentenceBytes) };
}

/** True when nothing of the instance lives, and its directory is removed, or kept because the instance is static. */
function isGone({ phase, static: isStatic }: Handle): boolean {
  return phase.is === 'down' && (isStatic || phase.directory === 'cleared');
}

function say(facts: SupervisorFacts, handle: Handle, goal: SupervisorGoal): Said | undefined {
  const { phase } = handle;
  const hook = hookOf(handle);
  if (hook?.kind === 'after' && phase.is !== 'down')
    return { state: 'OFFLINE', reason: 'stopping', message: `${hook.name} runs` };
  if (hook !== null && phase.is === 'up' && (phase.stopping === null || goal === 'run'))
    return { state: stateUnready(handle), reason: 'installing', message: `${hook.name} runs` };
  switch (phase.is) {
    case 'up':
      if (phase.stopping !== null) return sayStopping(facts, handle, phase.stopping, goal);
      // Report nothing for a run of a former content: it is about to be ended, and the report of its stop follows.
      return isOfItsRun(facts, handle) ? sayUp(facts, handle) : undefined;
    case 'remaining':
      if (phase.stopping !== null) return sayStopping(facts, handle, phase.stopping, goal);
      // Report the end of a finished instance only after its remains are gone.
      return isFinished(facts, handle) ? undefined : sayEnded(facts, handle, goal);
    case 'starting':
    case 'stopped':
    case 'down':
      return sayEnded(facts, handle, goal);
    default:
      return phase satisfies never;
  }
}

/** The report of an instance whose process does not live. */
function sayEnded(facts: SupervisorFacts, handle: Handle, goal: SupervisorGoal): Said | undefined {
  const { exit } = handle;
  if (exit !== null && isFinished(facts, handle)) {
    const message = `${endedWith(exit)}; ${notAgain(exit, facts.desired)}`;
    return { state: 'STOPPED', reason: 'exited', message };
  }
  switch (goal) {
    case 'stop':
      return { state: 'STOPPED', reason: 'stopped', message: exit === null ? null : endedWith(exit) };
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
 * The report of a running process: ONLINE once it is ready. After a crash the state stays OFFLINE until the process is
 * ready, so that no clients are sent there.
 */
function sayUp(facts: SupervisorFacts, handle: Handle): Said {
  const readiness = awaitedReadiness(facts, handle);
  if (readiness !== undefined)
    return { state: stateUnready(handle), ...sayNotReady(facts, handle, readiness) };
  const fault = faultOf(facts, handle);
  if (fault !== null) return { state: stateOfReady(fault), reason: 'not-alive', message: fault.message };
  const message = unknownText(facts, handle) ?? handle.installed?.behind ?? null;
  return { state: 'ONLINE', reason: null, message };
}

/** Why the state of a container is not known now: its engine is away. Null: the engine answers. */
function unknownText({ runtimeProblem }: SupervisorFacts, handle: Handle): string | null {
  const isContainer = pidOf(processOf(handle)) === NO_HOST_PID;
  return runtimeProblem === null || !isContainer ? null : `as far as is known: ${runtimeProblem}`;
}

function stateUnready({ end }: Handle): InstanceState {
  return end === 'asked' ? 'CREATING' : 'OFFLINE';
}

/** A fault whose cause is outside takes nothing out of the lists of proxies. */
function stateOfReady(fault: ReturnType<typeof faultOf>): InstanceState {
  return fault === null || fault.isShared ? 'ONLINE' : 'OFFLINE';
}

function notAgain(exit: Exit, desired: SupervisorFacts['desired']): string {
  const { restartPolicy: policy = 'always', job } = desired?.configuration ?? {};
  if (job?.retries !== undefined && exit.code !== 0)
    return `after ${countText(job.retries, 'retry', 'retries')} it does not start again`;
  const waits = isRestarted(policy, exit) ? 'holds from its next start on' : 'does not start it again';
  return `restartPolicy ${policy} ${waits}`;
}

/** The report of a stop. Stopping a hook, or a process that was never ready, makes nothing ONLINE. */
function sayStopping(
  facts: SupervisorFacts,
  handle: Handle,
  { signal, problem, leftAt }: Stopping,
  goal: SupervisorGoal,
): Said {
  const sent = signal === 'none' ? 'nothing' : (signal ?? 'stop command');
  const rung = leftAt === undefined ? `${sent} sent` : 'proxies learn first that it leaves';
  const said = problem === undefined ? rung : `the next signal waits: ${problem}`;
  const cause = givenUpFor(handle);
  if (cause !== null)
    return { state: 'OFFLINE', reason: 'not-alive', message: `${cause}; ending it: ${said}` };
  const why = goal === 'restart' ? 'restarting' : 'stopping';
  const wasOnline = hookOf(handle) === null && wasReady(facts, handle);
  const state = wasOnline ? stateOfReady(faultOf(facts, handle)) : stateUnready(handle);
  return { state, reason: 'stopping', message: `${why}: ${said}` };
}

/** The report of an instance that is wanted up, but is down. */
function sayDown(facts: SupervisorFacts, handle: Handle): Said | undefined {
  const { phase, exit } = handle;
  const state = exit === null || handle.streak === 0 ? 'CREATING' : 'OFFLINE';
  if (phase.is === 'starting' && phase.progress !== null)
    return { state, reason: 'starting', message: phase.progress };
  if (facts.runtimeProblem !== null)
    return { state, reason: 'runtime-unavailable', message: facts.runtimeProblem };
  const { problem, delay } = nextStartOf(handle);
  if (problem !== null) {
    const again = delay === null ? '' : `; next try in ${durationText(delay.ms)}`;
    return { state, reason: problem.reason, message: problem.message + again };
  }
  if (state === 'OFFLINE' && exit !== null && phase.is === 'remaining' && phase.left !== null)
    return {
      state,
      reason: 'exited',
      message: `${endedWith(exit)}; what it left (${leftText(phase.left)}) is ended before the next start`,
    };
  if (state === 'OFFLINE' && exit !== null)
    return { state, reason: 'exited', message: `${endedWith(exit)}, ${nextRestart(handle)}` };
  if (isPrepared(handle) || facts.desired?.assignment.templates.length === 0) return undefined;
  return { state, reason: 'installing', message: 'installing templates' };
}

interface MemoryFacts {
  /** True when the RAM limit has ended a process of the run. Called for runtimes that do not say so themselves. */
  readonly hasKilled: () => boolean;
  /** The limit of RAM; undefined: the configuration is not known. */
  readonly ramMB: number | undefined;
}

/**
 * Names the cause of an exit that the supervisor or the RAM limit caused, where signal and code do not tell it. The
 * kernel ends one process, often a child, and the main process decides how the run then ends. A requested end or a
 * success had another cause.
 */
export function explainExit(handle: Handle, exit: Exit, { hasKilled, ramMB }: MemoryFacts): Exit {
  const given = givenUpFor(handle);
  // A code of 0 would say that it has done its work.
  if (given !== null) return { ...exit, code: exit.code || null, kind: 'not-alive', cause: given };
  if (stoppingOf(handle) !== null || exit.code === 0 || exit.cause !== undefined) return exit;
  if (!(exit.isOutOfMemory ?? hasKilled())) return exit;
  return {
    ...exit,
    kind: 'out-of-memory',
    cause: `killed: out of memory${ramMB === undefined ? '' : ` at ${ramMB} MB`}`,
  };
}

/** The end of a process, in words that follow its name. */
export function endedWith(exit: Exit): string {
  if (exit.cause !== undefined) return exit.cause;
  if (exit.signal !== null) return `ended by ${exit.signal}`;
  return exit.code === null ? 'ended while Drover was not running' : `exited with code ${exit.code}`;
}

type Ended = Pick<SupervisorFacts, 'desired' | 'handle'>;

/** The text about the end of a process, for the log. A requested stop must not read like a crash. */
export function describeEnd(before: Handle, exit: Exit, { desired, handle: after }: Ended): string {
  if (stoppingOf(before) !== null) return `has stopped: ${endedWith(exit)}`;
  if (after !== undefined && isFinished({ desired }, after))
    return `${endedWith(exit)}; ${notAgain(exit, desired)}`;
  return after === undefined ? endedWith(exit) : `${endedWith(exit)}, ${nextRestart(after)}`;
}

/** The number of the next restart, and when it comes. */
function nextRestart(handle: Handle): string {
  const { delay } = nextStartOf(handle);
  const when = delay === null ? 'at once' : `in ${durationText(delay.ms)}`;
  return `restart ${handle.restarts + 1} ${when}`;
}
