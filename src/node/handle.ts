/**
 * What this node knows of one instance that it holds or held, and every change of its phase. The supervisor, the
 * installer and adoption ask for the changes; all others read.
 */
import { z } from 'zod';
import { type PortProtocol, resolvedTemplateSchema } from '../channel/protocol/messages.js';
import type { Reason } from '../model/instance.js';
import { instanceIdSchema, nameSchema } from '../model/names.js';
import { exitSchema, pastRunSchema } from '../model/run/past-exit.js';
import { isSameRun, type RunIdentity, runIdentitySchema } from '../model/run/run-identity.js';
import { DEFAULT_STOP, type StopSettings, stopSettingsSchema, stopSignalSchema } from '../model/stopping.js';

const stopBegunSchema = z.object({
  /** The last signal that was sent; null: the stop command. */
  signal: stopSignalSchema.nullable(),
  /** Unix milliseconds at which the stop began. */
  begunAt: z.number(),
});

/** The result of the readiness check of one run. */
const readinessSchema = z.object({
  run: z.int(),
  /** False: the run was late, but it may still become ready. */
  isReady: z.boolean(),
  /** Why the run was late, in words. */
  problem: z.string().nullable(),
});

/** The last complete install of an instance that has templates. */
const installedSchema = z.object({
  /** The restart request that the install answered. */
  restartToken: z.int(),
  /** The trees that the directory was made from; each has a digest. */
  templates: z.array(resolvedTemplateSchema).readonly(),
  /** Why newer trees that the node knew of could not be had, for a person; null: there were none. */
  behind: z.string().nullable(),
});

/** The record of a handle: the fields that outlive the daemon. */
export const handleRecordSchema = z.object({
  id: instanceIdSchema,
  configurationName: nameSchema,
  static: z.boolean(),
  runtime: nameSchema,
  /** Number of the current or last start; 0: never started here. */
  run: z.int(),
  /** The phase is `down`, and the directory is prepared. */
  isPrepared: z.boolean(),
  /** Not null: the phase is `up`. */
  process: runIdentitySchema.nullable(),
  /** When the start of `run` was asked for, Unix milliseconds; null: not known, as in older handles. */
  begunAt: z.number().nullable().default(null),
  /** The end of the last process. */
  exit: exitSchema.pick({ code: true, signal: true, at: true, cause: true }).nullable(),
  /** The last ends, newest first, for `instance why`. Older handles omit it. */
  exits: z.array(pastRunSchema).readonly().default([]),
  /** Restarts after unrequested exits, over the instance's life. */
  restarts: z.int(),
  /** Failures in a row (exits before 60 s, failed installs and starts); they decide the delay before the next try. */
  streak: z.int(),
  /** The restart request that the node has acted on. */
  restartToken: z.int(),
  /**
   * How the instance is stopped, even when its configuration is unknown by now. Older handles omit this field and the
   * fields below.
   */
  stop: stopSettingsSchema.default(DEFAULT_STOP),
  /** The stop ladder under way, in the phases that have it. */
  stopping: stopBegunSchema.nullable().default(null),
  /** True when the last run ended without a stop request (`LastEnd` is `unasked` or `final`). */
  hasEnded: z.boolean().default(false),
  /** The last end is `final`. */
  hasFinished: z.boolean().default(false),
  /** Null while the check goes on, and for runs without a check. */
  readiness: readinessSchema.nullable().default(null),
  /** The warnings of the last install, for a person; null: there were none. */
  warning: z.string().nullable().default(null),
  /** Number of the first line in the log that `run` wrote. Kept where readiness asks for a line. */
  logFrom: z.int().default(1),
  /** The port that `run` was started with, or null. Absent: unknown, as in older handles. */
  port: z.int().nullable().optional(),
  /** Null before the first install, and without templates. */
  installed: installedSchema.readonly().nullable().default(null),
});

export type HandleRecord = z.output<typeof handleRecordSchema>;

/**
 * What the last end means for the next start.
 * - `asked`: nothing ended yet, the end was asked for, or a restart was asked for since.
 * - `unasked`: the process ended by itself; the restart policy decides.
 * - `final`: the process ended by itself, and the master was told that its restart policy does not start it again.
 */
type LastEnd = 'asked' | 'unasked' | 'final';

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
export interface Stopping extends Readonly<z.output<typeof stopBegunSchema>> {
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
  /** The work of a long start, in words; null when the runtime has said nothing. */
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

/** The record's fields about the phase and the last end, which a handle has as unions. */
type PhaseField = 'isPrepared' | 'process' | 'stopping' | 'hasEnded' | 'hasFinished';

export type Handle = Readonly<Omit<HandleRecord, PhaseField>> & {
  /** Changed by the functions of this file only. */
  readonly phase: Phase;
  readonly end: LastEnd;
};

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

/** The hindrances of the next start. A process that is up, or was stopped, has none. */
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

/** Looks for remains of `run` later, because nobody knows what became of it. */
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
