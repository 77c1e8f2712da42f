/**
 * The contract between the process supervisor and a runtime (process, screen, tmux, docker). All runtimes keep their
 * instances alive without the daemon, and write the instances' output through src/logs. One contract suite tests them
 * all.
 */

import type { ProcessStamp } from '../files/processes.js';
import type { FileLimits, IoLimits } from '../model/fields/limits.js';
import type { NamedPorts } from '../model/fields/ports.js';
import type { RuntimeOffer } from '../model/node.js';
import type { Attachment, TerminalSize } from '../model/run/attachment.js';
import type { Exit, LogPlace } from '../model/run/past-exit.js';
import type { RunIdentity } from '../model/run/run-identity.js';
import type { StopTo } from '../model/stopping.js';

/** The path inside a container at which `StartSpec.apiAuthority` is mounted. */
export const AUTHORITY_IN_CONTAINER = '/etc/drover/api-ca.pem';

/** A start of an instance. `run` counts the starts, so that an old process is never taken for a new one. */
export interface RunId {
  readonly instanceId: string;
  readonly run: number;
}

/** The key of a run: `<instanceId>/<run>`. */
export function keyOf({ instanceId, run }: RunId): string {
  return `${instanceId}/${run}`;
}

export interface StartSpec extends RunId, IoLimits {
  /**
   * The command line, given to `/bin/sh -c` unchanged. Values reach it through `environment`, never as text of the
   * command.
   */
  readonly command: string;
  /** Absolute path of an existing directory. */
  readonly workingDirectory: string;
  /** The complete environment; a runtime adds only what a terminal needs. */
  readonly environment: Readonly<Record<string, string>>;
  /** The values that are covered in the log. Absent: none. */
  readonly hidden?: readonly string[];
  readonly ramMB: number;
  readonly cpu: number;
  /** The most processes and threads; absent: what the runtime sets for all. */
  readonly pids?: number | undefined;
  /** The limits of open files; absent: what the runtime sets for all. `command` sets them where it runs in a shell of this machine. */
  readonly nofile?: FileLimits | undefined;
  /**
   * Directories of control groups that the process joins before its command runs, so that the limits hold for all
   * its children. Absent or empty: limits are advisory. Runtimes that limit by themselves (docker) ignore it.
   */
  readonly controlGroups?: readonly string[];
  /** The configuration's `properties`, for runtimes with settings of their own (docker: `image`). */
  readonly properties?: Readonly<Record<string, string>>;
  /** The instance's main port on the node, or null. The docker runtime publishes it, and the named ports. */
  readonly port?: number | null;
  readonly ports?: NamedPorts | undefined;
  /**
   * The file with the API's certificate authority, which the environment names. Docker mounts it, because its programs
   * see other files.
   */
  readonly apiAuthority?: string;
  /**
   * A slow start (docker pulls an image) calls it with what it does, in words for the operator. From the first call on,
   * other work on the instance no longer waits for this start.
   */
  readonly onProgress?: (what: string) => void;
  /** Aborts when the start is no longer wanted. Quick starts may ignore it. */
  readonly signal?: AbortSignal;
}

/** The present usage of one instance: its whole process group, control group or container. */
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
  /** `/proc/sys/kernel/random/boot_id`: start times are comparable only within one boot. */
  readonly bootId: string;
}

/** A run that a runtime holds: a live process, or an exit that is not acknowledged yet. */
export type Held = RunId &
  (
    | {
        readonly process: RunIdentity;
        readonly exit: null;
        /** Where the run's output begins in the instance's log; absent: unknown. */
        readonly outputFrom?: LogPlace | undefined;
      }
    | { readonly process: RunIdentity | null; readonly exit: Exit }
  );

export type ExitListener = (run: RunId, exit: Exit) => void;

export interface Runtime {
  readonly key: string;

  /** Tells whether the runtime's tool answers on this machine. Cheap; called at start and from time to time. */
  probe(): Promise<RuntimeOffer>;

  /**
   * Starts a run, and resolves when its process exists. Throws DRV_RUNTIME_START_FAILED with a reason for the operator,
   * or DRV_RUNTIME_UNAVAILABLE when the tool or its owner cannot be reached. Refuses a second live process of one
   * instance id.
   */
  start(spec: StartSpec): Promise<RunIdentity>;

  /**
   * Takes over the runs that an earlier daemon left. Called once before anything else; repeatable. Afterwards exits go
   * to `onExit`. Resolves with all runs that the runtime holds. Never starts anything.
   */
  adopt(): Promise<readonly Held[]>;

  /** All runs that the runtime holds now. */
  list(): Promise<readonly Held[]>;

  /**
   * Sends a signal to the run. `all`, the default: to process group, session, control group, and processes outside that carry its
   * mark. `main`: to the main processes alone; SIGKILL goes to all. Resolves once sent, with the main processes when
   * others were spared, else with none. A run that is gone is no error. Rejects when nothing was sent.
   */
  signal(run: RunId, signal: NodeJS.Signals, to?: StopTo): Promise<readonly ProcessStamp[]>;

  /** True while a process lives that `signal` or `pipeReaders` named. Absent: they name none. */
  isProcessAlive?(named: ProcessStamp): boolean;

  /**
   * The live processes of a run that read from a pipe, such as `tee` behind a server. They may still pass on what an
   * ended main process wrote. Absent: not known.
   */
  pipeReaders?(run: RunId): Promise<readonly ProcessStamp[]>;

  /** The names of the live processes of a run, for a person. Absent: not known. */
  processNames?(run: RunId): Promise<readonly string[]>;

  /** True while anything of the run lives: its process, members of its groups, or other processes with its mark. */
  isAlive(run: RunId): Promise<boolean>;

  /**
   * True when the process group of an ended run is certainly empty; false: unknown. Costs one system call, so that a
   * restart after a crash need not read the whole of /proc. Marked processes outside of the group may still live, and
   * so may members of the control group, which the supervisor checks.
   */
  isGroupGone(run: RunId): boolean;

  /**
   * The present usage of runs, by `<instanceId>/<run>`; runs without known figures are left out. A runtime without this
   * method: the node reads usage from the runs' control groups or processes.
   */
  usage?(runs: readonly RunId[]): Promise<ReadonlyMap<string, Usage>>;

  /**
   * The main process of a run whose process has no pid of its own on this host (a container); undefined: this host does
   * not see it.
   */
  mainPid?(run: RunId): Promise<number | undefined>;

  /** Writes bytes to standard input unchanged. Throws DRV_INSTANCE_NOT_RUNNING, DRV_STDIN_TOO_LONG, DRV_STDIN_FULL. */
  write(run: RunId, bytes: Buffer): Promise<void>;

  /**
   * Attaches a terminal to a live run. Several may be attached at once, and no terminal holds up the program or its
   * log. Throws DRV_INSTANCE_NOT_RUNNING, DRV_INSTANCE_NOT_ATTACHABLE, DRV_RUNTIME_UNAVAILABLE. Absent: the runtime
   * cannot attach.
   */
  attach?(run: RunId, size: TerminalSize): Promise<Attachment>;

  /** Forgets an exit that the daemon has recorded. Repeatable. */
  acknowledge(run: RunId): Promise<void>;

  /** Exits are events, never polled. Returns the function that unsubscribes. */
  onExit(listener: ExitListener): () => void;

  /**
   * Calls the listener when the runtime lost all of its runs at once, because its owner or server died. The supervisor
   * then lists again. Returns the function that unsubscribes.
   */
  onLost(listener: () => void): () => void;

  /** Releases everything without ending anything: instances live on for the next daemon. Idempotent. */
  release(): Promise<void>;
}
