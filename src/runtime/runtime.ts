/**
 * What a runtime (process, screen, tmux, docker) does for the process supervisor. All runtimes keep their instances
 * alive without the daemon, and write the instances' output through src/logs. One contract suite tests them all.
 */

import type { RuntimeOffer } from '../model/node.js';
import type { Attachment, TerminalSize } from '../model/run/attachment.js';
import type { LogPlace, OutputSpan } from '../model/run/past-exit.js';
import type { RunIdentity } from '../model/run/run-identity.js';

/** Where a container finds the file of `StartSpec.apiAuthority`. */
export const AUTHORITY_IN_CONTAINER = '/etc/drover/api-ca.pem';

/** One start of one instance: `run` counts starts, so that an old process is never taken for a new one. */
export interface RunId {
  readonly instanceId: string;
  readonly run: number;
}

export interface StartSpec extends RunId {
  /** Given to `/bin/sh -c` unchanged. Values reach it by `environment`, never by text. */
  readonly command: string;
  /** Absolute path, exists. */
  readonly workingDirectory: string;
  /** The complete environment; a runtime adds only what a terminal needs. */
  readonly environment: Readonly<Record<string, string>>;
  readonly ramMB: number;
  readonly cpu: number;
  /**
   * Directories of control groups that the process joins before its command runs, so that the limits hold for all
   * its children. Absent or empty: limits are advisory. Runtimes that limit by themselves (docker) ignore it.
   */
  readonly controlGroups?: readonly string[];
  /** `properties` of the configuration, for runtimes with settings of their own (docker: `image`). */
  readonly properties?: Readonly<Record<string, string>>;
  /** The instance's port on the node, or null. docker publishes it. */
  readonly port?: number | null;
  /** A file that the environment names, for runtimes whose programs have other files (docker mounts it). */
  readonly apiAuthority?: string;
  /**
   * Called by a start that takes long (docker pulls an image), with what it does, in words for the operator. From
   * the first call on, other work on the instance no longer waits for this start.
   */
  readonly onProgress?: (what: string) => void;
  /** Aborts when the start is no longer wanted. A quick start need not look at it. */
  readonly signal?: AbortSignal;
}

/** What one instance uses now: its whole process group, control group or container. */
export interface Usage {
  /** Processor time since the run began, in seconds. */
  readonly cpuSeconds: number;
  readonly memoryBytes: number;
  readonly processes: number;
}

/** A process is known by pid and start time, never by pid alone. */
export interface ProcessIdentity {
  readonly pid: number;
  /** Field 22 of `/proc/<pid>/stat`, clock ticks since boot. */
  readonly startTime: number;
  /** `/proc/sys/kernel/random/boot_id`: start times of another boot mean nothing. */
  readonly bootId: string;
}

export interface Exit {
  /** Exit status, or null when a signal ended it. */
  readonly code: number | null;
  /** Signal name such as `SIGKILL`, or null. */
  readonly signal: string | null;
  /** Unix milliseconds. */
  readonly at: number;
  /** Where the output stands in the instance's log; absent: unknown. */
  readonly output?: OutputSpan | undefined;
  /** The memory limit ended it, where the runtime itself knows (docker). Elsewhere the node's limits tell. */
  readonly isOutOfMemory?: boolean | undefined;
  /** What neither code nor signal tells, in words: `its container was removed`. */
  readonly cause?: string | undefined;
}

/** A run that a runtime holds: a live process, or an exit that is not acknowledged yet. */
export type Held = RunId &
  (
    | {
        readonly process: RunIdentity;
        readonly exit: null;
        /** Where its output begins in the instance's log; absent: unknown. */
        readonly outputFrom?: LogPlace | undefined;
      }
    | { readonly process: RunIdentity | null; readonly exit: Exit }
  );

export type ExitListener = (run: RunId, exit: Exit) => void;

export interface Runtime {
  readonly key: string;

  /** Whether the tool answers on this machine. Cheap; called at start and from time to time. */
  probe(): Promise<RuntimeOffer>;

  /**
   * Starts a run, and resolves when its process exists. Throws DRV_RUNTIME_START_FAILED with a reason for the
   * operator, DRV_RUNTIME_UNAVAILABLE when the tool or its owner cannot be reached. Refuses a second live process
   * of one instance id.
   */
  start(spec: StartSpec): Promise<RunIdentity>;

  /**
   * Takes up what an earlier daemon left. Called once before anything else; repeatable. Afterwards exits go to
   * `onExit`. Resolves with all runs that the runtime holds. Never starts anything.
   */
  adopt(): Promise<readonly Held[]>;

  /** All runs that it holds now. */
  list(): Promise<readonly Held[]>;

  /**
   * Sends a signal to everything of the run: process group, session, control group, and processes outside that carry
   * its mark.
   * Resolves once sent; a run that is gone is no error.
   */
  signal(run: RunId, signal: NodeJS.Signals): Promise<void>;

  /** True while anything of the run lives: its process, members of its groups, or other processes with its mark. */
  isAlive(run: RunId): Promise<boolean>;

  /**
   * True when the process group of an ended run is empty for certain. It takes one system call, so that a restart
   * after a crash need not wait for the whole of /proc. Marked processes outside of the group may still live, and
   * members of the control group, which the supervisor looks at. False says nothing.
   */
  isGroupGone(run: RunId): boolean;

  /**
   * What runs use now, by `<instanceId>/<run>`; runs without known figures are left out. Absent: the node reads
   * usage from the runs' control groups or processes.
   */
  usage?(runs: readonly RunId[]): Promise<ReadonlyMap<string, Usage>>;

  /** Writes bytes to standard input unchanged. Throws DRV_INSTANCE_NOT_RUNNING, DRV_STDIN_TOO_LONG, DRV_STDIN_FULL. */
  write(run: RunId, bytes: Buffer): Promise<void>;

  /**
   * Attaches a terminal to a live run. Several may be attached at once, and none holds up the program or its log.
   * Throws DRV_INSTANCE_NOT_RUNNING, DRV_INSTANCE_NOT_ATTACHABLE, DRV_RUNTIME_UNAVAILABLE. Absent: it cannot.
   */
  attach?(run: RunId, size: TerminalSize): Promise<Attachment>;

  /** Forgets an exit once the daemon has recorded it. Repeatable. */
  acknowledge(run: RunId): Promise<void>;

  /** Exits are events, never polled. Returns the function that unsubscribes. */
  onExit(listener: ExitListener): () => void;

  /**
   * Called when the runtime lost all of its runs at once, because its owner or server died. The supervisor lists
   * again. Returns the function that unsubscribes.
   */
  onLost(listener: () => void): () => void;

  /** Releases everything without ending anything: instances live on for the next daemon. Idempotent. */
  release(): Promise<void>;
}
