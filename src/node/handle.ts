/**
 * What this node knows of one instance that it holds or held, and every change of its phase. The supervisor, the
 * installer and adoption ask for the changes; all others read.
 */
import type { PortProtocol } from '../channel/protocol/messages.js';
import type { Reason } from '../model/instance.js';
import type { PastRun } from '../model/run/past-exit.js';
import { isSameRun, type RunIdentity } from '../model/run/run-identity.js';
import { DEFAULT_STOP, type StopSettings, type StopSignal } from '../model/stopping.js';
import type { ResolvedTemplate } from '../model/template.js';

/** How the last process ended. */
export interface LastExit {
  readonly code: number | null;
  readonly signal: string | null;
  readonly at: number;
  /** What code and signal do not tell, in words. */
  readonly cause?: string | undefined;
}

/**
 * What the last end means for the next start.
 * - `asked`: nothing ended yet, the end was asked for, or a restart was asked for since.
 * - `unasked`: the process ended by itself; the restart policy decides.
 * - `final`: the process ended by itself, and the master was told that its restart policy does not start it again.
 */
export type LastEnd = 'asked' | 'unasked' | 'final';

/** The result of the readiness check of one run. */
export interface CheckedReadiness {
  readonly run: number;
  /** False: the run was late, but it may still become ready. */
  readonly isReady: boolean;
  /** Why the run was late, in words. */
  readonly problem: string | null;
}

/** The last complete install of an instance that has templates. */
export interface Installed {
  /** The restart request that the install answered. */
  readonly restartToken: number;
  /** The trees that the directory was made from; each has a digest. */
  readonly templates: readonly ResolvedTemplate[];
  /** Why newer trees that the node knew of could not be had, for a person; null: there were none. */
  readonly behind: string | null;
}

/** The reason why the next start does not happen now. */
export interface Problem {
  readonly reason: Reason;
  readonly message: string;
  readonly busyPort: number | null;
  readonly busyProtocol?: PortProtocol;
  /** With `install-failed`: the tree that could not be fetched. */
  readonly digest?: string;
}

/** The stop ladder under way. */
export interface Stopping {
  /** The last signal that was sent; null: the stop command. */
  readonly signal: StopSignal | null;
  /** Unix milliseconds at which the stop began. */
  readonly begunAt: number;
  /** Monotonic ms at which the last signal was sent, or the stop command written. */
  readonly signalledAt: number;
  /** Monotonic ms at which the stop began. */
  readonly since: number;
}

/** What the next start waits for. */
export interface NextStart {
  readonly problem: Problem | null;
  /** The instance is not started again before `until` (monotonic ms), which is `ms` after the failure; null: at once. */
  readonly delay: { readonly until: number; readonly ms: number } | null;
}

/** Nothing of any run lives, and no stop is under way. */
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
  /** What a long start is doing, in words; null when the runtime has said nothing. */
  readonly progress: string | null;
  /** The start is not wanted any more, and its runtime was told so. */
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
  /** Monotonic ms of the last look for remains; null: none yet. */
  readonly checkedAt: number | null;
  readonly stopping: Stopping | null;
  readonly next: NextStart;
}

/** Nothing of the run lives any more, and the stop that ended it is to be noted as complete. */
export interface Stopped {
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

export interface Handle {
  readonly id: string;
  readonly configurationName: string;
  readonly static: boolean;
  readonly runtime: string;
  /** Number of the current or last start; 0: never started here. */
  readonly run: number;
  /** Changed by the functions of this file only. */
  readonly phase: Phase;
  /** When the start of `run` was asked for, Unix milliseconds; null: not known, as in older handles. */
  readonly begunAt: number | null;
  /** The end of the last process. */
  readonly exit: LastExit | null;
  /** The last ends, newest first, for `instance why`. */
  readonly exits: readonly PastRun[];
  readonly end: LastEnd;
  /** Restarts after unrequested exits, over the instance's life. */
  readonly restarts: number;
  /** Failures in a row (exits before 60 s, failed installs and starts); they decide the delay before the next try. */
  readonly streak: number;
  /** The restart request that the node has acted on. */
  readonly restartToken: number;
  /** How the instance is stopped, even when its configuration is unknown by now. */
  readonly stop: StopSettings;
  /** Null while the check goes on, and for runs without a check. */
  readonly readiness: CheckedReadiness | null;
  /** What the last install found without effect, for a person; null: nothing. */
  readonly warning: string | null;
  /** Number of the first line in the log that `run` wrote. Kept where readiness asks for a line. */
  readonly logFrom: number;
  /** The port that `run` was started with, or null. Absent: unknown, as in older handles. */
  readonly port?: number | null | undefined;
  /** Null before the first install, and without templates. */
  readonly installed: Installed | null;
}

export const AT_ONCE: NextStart = { problem: null, delay: null };
const STALE: Down = { is: 'down', directory: 'stale', next: AT_ONCE };

/** A handle for an instance that is new to this node. */
export function newHandle(
  facts: Pick<Handle, 'id' | 'configurationName' | 'static' | 'runtime' | 'restartToken'> & {
    /** Default: without a stop command, SIGTERM, 10 s. */
    readonly stop?: StopSettings;
  },
): Handle {
  return {
    id: facts.id,
    configurationName: facts.configurationName,
    static: facts.static,
    runtime: facts.runtime,
    run: 0,
    phase: STALE,
    begunAt: null,
    exit: null,
    exits: [],
    end: 'asked',
    restarts: 0,
    streak: 0,
    restartToken: facts.restartToken,
    stop: facts.stop ?? DEFAULT_STOP,
    readiness: null,
    warning: null,
    logFrom: 1,
    installed: null,
  };
}

/** The live process or container, or null. */
export function processOf({ phase }: Handle): RunIdentity | null {
  return phase.is === 'up' ? phase.process : null;
}

/** The stop ladder under way, or null. */
export function stoppingOf({ phase }: Handle): Stopping | null {
  return 'stopping' in phase ? phase.stopping : null;
}

/** What the next start waits for; a process that is up, or was stopped, waits for nothing. */
export function nextStartOf({ phase }: Handle): NextStart {
  return 'next' in phase ? phase.next : AT_ONCE;
}

/** True when something of the run lives, may live, or is about to. */
export function isAlive({ phase }: Handle): boolean {
  return phase.is !== 'down' && phase.is !== 'stopped';
}

export function isPrepared({ phase }: Handle): boolean {
  return phase.is === 'down' && phase.directory === 'prepared';
}

/*
 * The changes of the phase, by the installer and the supervisor. Where the instance has left the phase meanwhile, the
 * handle comes back as it was.
 */

/** The directory was made, discarded or removed. A new directory ends every problem but a busy port. */
export function withDirectory(handle: Handle, directory: Down['directory']): Handle {
  const { phase } = handle;
  if (phase.is !== 'down') return handle;
  const isOver = directory === 'prepared' && phase.next.problem?.reason !== 'port-busy';
  return { ...handle, phase: { is: 'down', directory, next: isOver ? AT_ONCE : phase.next } };
}

/** The next start cannot happen now. */
export function hindered(handle: Handle, next: NextStart): Handle {
  const { phase } = handle;
  return phase.is === 'down' ? { ...handle, phase: { ...phase, next } } : handle;
}

/** The runtime is asked for the next run. */
export function starting(handle: Handle, port: number | null, begunAt: number): Handle {
  const phase = { is: 'starting', progress: null, isCancelled: false, next: nextStartOf(handle) } as const;
  return { ...handle, run: handle.run + 1, port, begunAt, phase };
}

export function withProgress(handle: Handle, progress: string): Handle {
  const { phase } = handle;
  return phase.is === 'starting' ? { ...handle, phase: { ...phase, progress } } : handle;
}

export function cancelled(handle: Handle): Handle {
  const { phase } = handle;
  return phase.is === 'starting' ? { ...handle, phase: { ...phase, isCancelled: true } } : handle;
}

/** The start failed, or was cancelled: what the runtime began may live. Adoption may have found the run up before. */
export function notStarted(handle: Handle, next: NextStart): Handle {
  if (handle.phase.is !== 'starting') return handle;
  return { ...handle, phase: { is: 'remaining', checkedAt: null, stopping: null, next } };
}

/** The process of `run` lives, as its runtime said. A stop that is under way goes on. */
export function up(handle: Handle, process: RunIdentity, since: number): Handle {
  return { ...handle, phase: { is: 'up', process, since, stopping: stoppingOf(handle) } };
}

/** A rung of the stop ladder was reached. */
export function signalled(handle: Handle, stopping: Stopping): Handle {
  const { phase } = handle;
  if (phase.is !== 'up' && phase.is !== 'remaining') return handle;
  return { ...handle, phase: { ...phase, stopping } };
}

/** The process of `run` ended, whatever the handle knew of it. */
export function ended(handle: Handle, next: NextStart): Handle {
  return { ...handle, phase: { is: 'remaining', checkedAt: null, stopping: stoppingOf(handle), next } };
}

/** What happened to `run` is not known: remains of it are looked for. */
export function unclear(handle: Handle): Handle {
  const { phase } = handle;
  const isUnclear = phase.is === 'stopped' || (phase.is === 'down' && phase.directory !== 'prepared');
  return isUnclear && handle.run > 0 ? ended(handle, nextStartOf(handle)) : handle;
}

/** Remains of `run` were looked for. */
export function lookedAfter(handle: Handle, hasRemains: boolean, checkedAt: number): Handle {
  const { phase } = handle;
  if (phase.is !== 'remaining') return handle;
  const { stopping, next } = phase;
  if (hasRemains) return { ...handle, phase: { ...phase, checkedAt } };
  return {
    ...handle,
    phase: stopping === null ? { is: 'down', directory: 'stale', next } : { is: 'stopped', stopping },
  };
}

/** The stop is complete, or the instance that it did not end is wanted again. */
export function settled(handle: Handle): Handle {
  const { phase } = handle;
  if (phase.is === 'up') return { ...handle, streak: 0, phase: { ...phase, stopping: null } };
  return phase.is === 'stopped' ? { ...handle, streak: 0, phase: STALE } : handle;
}

/** A restart request is acted on: the next run begins afresh, and the past ends of the instance count no more. */
export function renewed(handle: Handle, restartToken: number): Handle {
  return { ...handle, restartToken, phase: STALE, end: 'asked', streak: 0 };
}

/** Whether `run` is known to run as this process, and was confirmed to this daemon. */
export function isConfirmed({ phase }: Handle, process: RunIdentity): boolean {
  return phase.is === 'up' && phase.since !== null && isSameRun(phase.process, process);
}
