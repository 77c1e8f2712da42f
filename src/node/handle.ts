/**
 * A handle: the state that the node keeps of one instance that it holds or held, and every change of its phase. The
 * supervisor, the installer and adoption request the changes; other code only reads.
 */
import type { ProcessStamp } from '../files/processes.js';
import type { OwnPorts, PortProtocol } from '../model/fields/ports.js';
import type { Reason } from '../model/instance.js';
import { isSameRun, type RunIdentity } from '../model/run/run-identity.js';
import { DEFAULT_STOP, type StopSettings, type StopSignal } from '../model/stopping.js';
import { type HandleRecord, NO_HOOKS, type StopBegun } from './handle-record.js';

/**
 * What the last end means for the next start.
 * - `asked`: nothing has ended yet, the end was requested, or a restart was requested after the end.
 * - `unasked`: the process ended by itself; the restart policy decides.
 * - `final`: the process ended by itself, and the master knows that the restart policy does not start it again.
 */
type LastEnd = 'asked' | 'unasked' | 'final';

/** The reason why the next start does not happen now. */
export interface Problem {
  readonly reason: Reason;
  readonly message: string;
  readonly busyPort: number | null;
  readonly busyProtocol?: PortProtocol;
  /** For `install-failed`: the tree that could not be fetched. */
  readonly digest?: string;
}

/** A stop ladder under way. */
export interface Stopping extends Omit<StopBegun, 'signal'> {
  /** The last rung that the runtime took: a signal; null: the stop command; `none`: nothing yet. */
  readonly signal: StopSignal | null | 'none';
  /** Monotonic ms at which the runtime took the last signal, or the stop command. */
  readonly signalledAt: number;
  /** Monotonic ms at which the runtime took the first rung: the time of the stop begins then. */
  readonly since: number;
  /** Monotonic ms at which the instance left the lists of proxies: the first rung waits. Absent: nothing waits. */
  readonly leftAt?: number;
  /** The readers of pipes that the rest waits for since `since`, monotonic ms: the main processes have ended then. */
  readonly draining?: { readonly since: number; readonly readers: readonly ProcessStamp[] };
  /** Monotonic ms of the last look at the main processes, or of the last try to take a rung. */
  readonly lookedAt?: number;
  /** Why the runtime did not take the next rung at `lookedAt`, for a person; absent: nothing was refused. */
  readonly problem?: string;
}

/** The problem and the delay that hold back the next start. */
export interface NextStart {
  readonly problem: Problem | null;
  /**
   * The delay after a failure: no start before `until` (monotonic ms), which is `ms` after the failure; null: start at
   * once.
   */
  readonly delay: { readonly until: number; readonly ms: number } | null;
}

/** No process of any run lives, and no stop is under way. */
export interface Down {
  readonly is: 'down';
  /**
   * - `prepared`: complete and fresh for start number `run + 1`.
   * - `stale`: to be made before the next start.
   * - `cleared`: removed on request.
   */
  readonly directory: 'prepared' | 'stale' | 'cleared';
  readonly next: NextStart;
}

/** The runtime was asked to start `run` and has not answered yet. */
export interface Starting {
  readonly is: 'starting';
  /** The progress of a long start, for a person; null: the runtime has reported none. */
  readonly progress: string | null;
  /** True when the start is no longer wanted and the runtime was told to cancel it. */
  readonly isCancelled: boolean;
  readonly next: NextStart;
}

/** The process or container of `run` lives. */
export interface Up {
  readonly is: 'up';
  readonly process: RunIdentity;
  /** Monotonic ms at which the process was started or adopted; null: no runtime has confirmed it to this daemon. */
  readonly since: number | null;
  readonly stopping: Stopping | null;
}

/** The process of `run` ended or failed to start; other processes of the run may live and must end before a start. */
export interface Remaining {
  readonly is: 'remaining';
  /** Monotonic ms of the last look for remaining processes; null: there was no look yet. */
  readonly checkedAt: number | null;
  /** The names of the processes that two looks have found; null: no second look has found any yet. */
  readonly left: readonly string[] | null;
  readonly stopping: Stopping | null;
  /** The ladder of what is left of an end that nobody asked for; null: nothing was found, or a stop was asked for. */
  readonly ending: Stopping | null;
  readonly next: NextStart;
}

/** No process of the run lives any more, but the stop that ended the run is not noted as complete yet. */
interface Stopped {
  readonly is: 'stopped';
  readonly stopping: Stopping;
}

/**
 * ```
 *         start               answered             exit
 *  down --------> starting -------------> up ---------------> remaining
 *   ^ ^              `---- failed or cancelled ------------------^  |
 *   | `------------------- nothing is left -------------------------+
 *   `-- settled --- stopped <--- nothing is left of a stop ---------'
 * ```
 * Adoption may find a process in every phase (to `up`), or an unclear end (`down` and `stopped` to `remaining`).
 */
export type Phase = Down | Starting | Up | Remaining | Stopped;

/** The record's fields that a handle replaces by its unions `phase` and `end`. */
type PhaseField = 'isPrepared' | 'process' | 'stopping' | 'hasEnded' | 'hasFinished';

export type Handle = Readonly<Omit<HandleRecord, PhaseField>> & {
  /** The phase; only the functions of this file change it. */
  readonly phase: Phase;
  readonly end: LastEnd;
};

export const AT_ONCE: NextStart = { problem: null, delay: null };
const STALE: Down = { is: 'down', directory: 'stale', next: AT_ONCE };

/** A handle for an instance that is new to this node. */
export function newHandle(
  facts: Pick<Handle, 'id' | 'configurationName' | 'static' | 'runtime' | 'restartToken'> & {
    /** The stop settings. Default: no stop command, SIGTERM, 10 s. */
    readonly stop?: StopSettings;
  },
): Handle {
  return {
    stop: DEFAULT_STOP,
    ...facts,
    run: 0,
    phase: STALE,
    begunAt: null,
    exit: null,
    exits: [],
    end: 'asked',
    restarts: 0,
    streak: 0,
    readiness: null,
    warning: null,
    logFrom: 1,
    isFound: null,
    listens: null,
    hooks: NO_HOOKS,
    givenUp: null,
    installed: null,
  };
}

/** The handle with other fields. Its phase has functions of its own. */
export function changed(handle: Handle, fields: Partial<Omit<Handle, 'id' | 'phase'>>): Handle {
  return withPhase(handle, handle.phase, fields);
}

function withPhase(handle: Handle, phase: Phase, fields: Partial<Omit<Handle, 'id' | 'phase'>> = {}): Handle {
  return Object.assign(sharedFieldsOf(handle), { phase, end: handle.end }, fields);
}

/**
 * The fields that a handle and its record share. A literal, so that all handles have one shape: V8 makes a spread of
 * this many fields ten times slower, and a start changes its handle about eight times.
 */
export function sharedFieldsOf(handle: Handle): Omit<Handle, 'phase' | 'end'> {
  return {
    id: handle.id,
    configurationName: handle.configurationName,
    static: handle.static,
    runtime: handle.runtime,
    run: handle.run,
    port: handle.port,
    ports: handle.ports,
    sharesPort: handle.sharesPort,
    begunAt: handle.begunAt,
    exit: handle.exit,
    exits: handle.exits,
    restarts: handle.restarts,
    streak: handle.streak,
    restartToken: handle.restartToken,
    stop: handle.stop,
    readiness: handle.readiness,
    warning: handle.warning,
    logFrom: handle.logFrom,
    isFound: handle.isFound,
    listens: handle.listens,
    hooks: handle.hooks,
    givenUp: handle.givenUp,
    installed: handle.installed,
  } satisfies Record<Exclude<keyof Handle, 'phase' | 'end'>, unknown>;
}

/** The hook that the present run is; null: the run is of the command. */
export function hookOf({ hooks: { present }, run }: Handle): Handle['hooks']['present'] {
  return present?.run === run ? present : null;
}

/** Why the present run is ended, though it is wanted: it was not alive. Null: it is not. */
export function givenUpFor({ givenUp, run }: Handle): string | null {
  return givenUp?.run === run ? givenUp.cause : null;
}

/** The name of the instance in the log of the node. */
export function nameOf({ id, configurationName }: Handle): string {
  return `${id} (${configurationName})`;
}

/** The fields of a log line about the run. */
export function fieldsOf({ id, configurationName, run }: Handle): Record<string, string | number> {
  return { instance: id, configuration: configurationName, run };
}

/** The live process or container, or null. */
export function processOf({ phase }: Handle): RunIdentity | null {
  return phase.is === 'up' ? phase.process : null;
}

/** The stop ladder under way, or null. */
export function stoppingOf({ phase }: Handle): Stopping | null {
  return 'stopping' in phase ? phase.stopping : null;
}

/** The problem and the delay that hold back the next start. A process that is up or was stopped has neither. */
export function nextStartOf({ phase }: Handle): NextStart {
  return 'next' in phase ? phase.next : AT_ONCE;
}

/** True when a process of the run lives, may live, or is about to start. */
export function isAlive({ phase }: Handle): boolean {
  return phase.is !== 'down' && phase.is !== 'stopped';
}

export function isPrepared({ phase }: Handle): boolean {
  return phase.is === 'down' && phase.directory === 'prepared';
}

/**
 * True when the instance may have noted its port in files of its own, so that it waits for the port while another
 * program holds it.
 */
export function keepsPort({ static: isStatic, run, isFound }: Handle): boolean {
  return isStatic && (run > 0 || isFound === true);
}

/*
 * The changes of the phase, for the installer and the supervisor. A change that does not fit the present phase returns
 * the handle unchanged.
 */

/** Notes that the directory was made, discarded or removed. A new directory ends every problem but a busy port. */
export function withDirectory(handle: Handle, directory: Down['directory']): Handle {
  const { phase } = handle;
  if (phase.is !== 'down') return handle;
  const isOver = directory === 'prepared' && phase.next.problem?.reason !== 'port-busy';
  const hooks = directory === 'prepared' ? { ...handle.hooks, done: 0 } : handle.hooks;
  return withPhase(handle, { is: 'down', directory, next: isOver ? AT_ONCE : phase.next }, { hooks });
}

/** Notes the problem or delay that holds back the next start. */
export function hindered(handle: Handle, next: NextStart): Handle {
  const { phase } = handle;
  return phase.is === 'down' ? withPhase(handle, { ...phase, next }) : handle;
}

/** Notes that the runtime is asked to start the next run. */
export function starting(handle: Handle, { port, ports }: OwnPorts, begunAt: number): Handle {
  const phase = { is: 'starting', progress: null, isCancelled: false, next: nextStartOf(handle) } as const;
  return withPhase(handle, phase, { run: handle.run + 1, port, ports, begunAt });
}

export function withProgress(handle: Handle, progress: string): Handle {
  const { phase } = handle;
  return phase.is === 'starting' ? withPhase(handle, { ...phase, progress }) : handle;
}

export function cancelled(handle: Handle): Handle {
  const { phase } = handle;
  return phase.is === 'starting' ? withPhase(handle, { ...phase, isCancelled: true }) : handle;
}

/**
 * Notes that the start failed or was cancelled, so that processes of it may remain. Changes nothing when adoption has
 * already found the run up.
 */
export function notStarted(handle: Handle, next: NextStart): Handle {
  if (handle.phase.is !== 'starting') return handle;
  return withPhase(handle, remaining(null, next), { begunAt: null });
}

/** True when the start of the program was kept, and neither its process nor its end is known. */
export function isLostRun(handle: Handle): boolean {
  const { phase, run, begunAt, exits } = handle;
  const isBegun = phase.is === 'down' && begunAt !== null && hookOf(handle) === null;
  return isBegun && exits[0]?.run !== run;
}

/** How many restarts there are with the start that follows: it is one when it comes after a failure. */
export function restartsWithNext({ restarts, exit, streak }: Handle): number {
  return restarts + (exit !== null && streak > 0 ? 1 : 0);
}

function remaining(stopping: Stopping | null, next: NextStart): Remaining {
  return { is: 'remaining', checkedAt: null, left: null, stopping, ending: null, next };
}

/** Notes that the process of `run` lives, as its runtime reported. A stop under way continues. */
export function up(handle: Handle, process: RunIdentity, since: number): Handle {
  return withPhase(handle, { is: 'up', process, since, stopping: stoppingOf(handle) });
}

/** The ladder that the run climbs, of a stop or of what an end left behind; null: none. */
export function ladderOf({ phase }: Handle): Stopping | null {
  if (phase.is === 'remaining') return phase.stopping ?? phase.ending;
  return phase.is === 'up' ? phase.stopping : null;
}

/** Notes how far the run has climbed its ladder. Processes that an end left behind climb one that is no stop. */
export function climbed(handle: Handle, ladder: Stopping): Handle {
  const { phase } = handle;
  if (phase.is === 'up') return withPhase(handle, { ...phase, stopping: ladder });
  if (phase.is !== 'remaining') return handle;
  const isStop = phase.stopping !== null;
  return withPhase(handle, { ...phase, ...(isStop ? { stopping: ladder } : { ending: ladder }) });
}

/** Notes that the process of `run` ended, in whatever phase the handle is. */
export function ended(handle: Handle, next: NextStart): Handle {
  return withPhase(handle, remaining(stoppingOf(handle), next));
}

/** Makes the node look for remaining processes of `run`, because it is unknown how the run ended. */
export function unclear(handle: Handle): Handle {
  const { phase } = handle;
  const isUnclear = phase.is === 'stopped' || (phase.is === 'down' && phase.directory !== 'prepared');
  return isUnclear && handle.run > 0 ? ended(handle, nextStartOf(handle)) : handle;
}

/**
 * Notes the result of a look for remaining processes of `run`. `left`: their names; null: there are none, or (with
 * `hasRemains`) this was the first look.
 */
export function lookedAfter(
  handle: Handle,
  hasRemains: boolean,
  checkedAt: number,
  left: readonly string[] | null = null,
): Handle {
  const { phase } = handle;
  if (phase.is !== 'remaining') return handle;
  const { stopping, next } = phase;
  if (hasRemains) return withPhase(handle, { ...phase, checkedAt, left: left ?? phase.left });
  const hook = hookOf(handle);
  const directory = hook?.kind === 'prepare' && handle.hooks.done > hook.index ? 'prepared' : 'stale';
  return withPhase(handle, stopping === null ? { is: 'down', directory, next } : { is: 'stopped', stopping });
}

/** Notes that the stop is complete, or that an instance that is still up is wanted again. */
export function settled(handle: Handle): Handle {
  const { phase } = handle;
  if (phase.is === 'up') return withPhase(handle, { ...phase, stopping: null }, { streak: 0 });
  return phase.is === 'stopped' ? withPhase(handle, STALE, { streak: 0 }) : handle;
}

/** The handle before its run ends by a ladder that nobody asked for: the end is a failure. */
export function unasked(handle: Handle): Handle {
  return changed(settled(handle), { streak: handle.streak });
}

/**
 * Notes that a restart request is carried out: the next run begins without the failures and the delay of earlier runs.
 */
export function renewed(handle: Handle, restartToken: number): Handle {
  return withPhase(handle, STALE, { restartToken, end: 'asked', streak: 0 });
}

/** True when `run` is up as this process, and a runtime has confirmed that to this daemon. */
export function isConfirmed({ phase }: Handle, process: RunIdentity): boolean {
  return phase.is === 'up' && phase.since !== null && isSameRun(phase.process, process);
}
