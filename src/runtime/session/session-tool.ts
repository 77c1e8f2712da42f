/**
 * The contract between the session owner and a terminal multiplexer (screen, tmux). The session owner is the detached
 * process that starts sessions, feeds their output into the log store and remembers exits. The multiplexer's own server
 * holds the terminals, so that instances outlive daemon and session owner. Used only inside the session owner: keep the
 * imports few.
 *
 * A run has a directory of its own (0700), shared by tool and session owner:
 *
 * ```
 * <sessions>/<instance id>.<run>/
 *   run.json           the session owner's own record, with place.json and exit.json; the tool leaves them alone
 *   pid, said, status  written by the shell inside the session (session-prelude.ts): its processes, its messages,
 *                      and how the command ended
 *   spool.000000 ...   raw output, numbered; the tool appends, the session owner reads in order and deletes
 *   died               the exit status as the tool tells it, written once all output is in the spool (tmux)
 *   <tool>.log         messages of the tool's programs, shown when a session does not begin
 *   <tool>.*           other files of the tool (`screen.stdin.3`, `tmux.conf`)
 * ```
 */
import type { TerminalSize } from '../../model/run/attachment.js';

/** The parameters of a tool's constructor: `new ScreenTool(place)`, `new TmuxTool(place)`. */
export interface ToolPlace {
  /**
   * The directory of the tool's sockets: exists, 0700, used by this root and tool only. Names of sockets may have up to
   * 32 bytes.
   */
  readonly socketDirectory: string;
  /**
   * The directory (exists, 0700) that holds the directories of the runs, and files that all sessions of the tool share.
   */
  readonly directory: string;
  /** The directories in which programs are searched at every call: the daemon's `PATH` (see find-program.ts). */
  readonly path: string;
}

export interface SessionRun {
  /** The session's name for the tool and for an operator who attaches, unique under the root: `<instance id>-<run>`. */
  readonly name: string;
  /** The run's directory; exists, 0700. */
  readonly directory: string;
}

export interface ProgramCall {
  readonly file: string;
  readonly parameters: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
}

/**
 * A session and its program: a shell that stays beside the command and reports its end. The environment is complete;
 * the prelude removes what the tool adds (its `variables`).
 */
export interface SessionStart extends SessionRun, ProgramCall {
  readonly workingDirectory: string;
}

export interface SessionExit {
  /** Exit status; null when a signal ended the command, or when it is unknown. */
  readonly code: number | null;
  /** Signal number, or null. */
  readonly signal: number | null;
}

/** The result of `SessionTool.readEnd`: how many of the bytes are output, and the exit if it is among them. */
export interface SpoolEnd {
  readonly outputBytes: number;
  readonly exit: SessionExit | undefined;
}

/** Thrown when the program does not read and too many bytes wait already. Nothing was written. */
export class InputFull extends Error {}

export interface SessionTool {
  readonly key: 'screen' | 'tmux';

  /**
   * The variables that the tool sets for its programs. The prelude removes them, or restores the values of the
   * configuration.
   */
  readonly variables: readonly string[];

  /**
   * Lines of shell that the session's shell runs after its closing words. For tools that may miss output written just
   * before the session's first process ends (tmux). Absent: the shell ends at once.
   */
  readonly beforeEnd?: string;

  /** Starts the session; its output goes to the spool from the first byte. Throws an Error for the operator. */
  start(start: SessionStart): Promise<void>;

  /** The names of all existing sessions, including dead sessions that are kept for their exit status. */
  list(): Promise<ReadonlySet<string>>;

  /**
   * False when the session's server is certainly gone. Cheap, and starts no program: the owner asks for every session
   * every 2 s, and often in between. True while a start is under way.
   */
  isServed(run: SessionRun): boolean;

  /** How many bytes may wait at the tool for a program that does not read. Infinity: the tool bounds them itself. */
  readonly mostUnreadBytes: number;

  /**
   * Writes bytes to the session's terminal unchanged. Throws when the session does not exist. The owner makes only one
   * call at a time for a run, with all waiting bytes (up to 64 KB).
   */
  write(run: SessionRun, bytes: Buffer): Promise<void>;

  /**
   * Resolves when all written bytes are in the terminal, or as many as it has space for. Throws when the session does
   * not exist.
   */
  flush(run: SessionRun): Promise<void>;

  /**
   * The program that shows the session on the terminal on which it is started, to one more viewer. Nothing is ever
   * typed into it: the tool's own keys could start programs as Drover's user. Throws when the session does not exist.
   */
  view(run: SessionRun): Promise<ProgramCall>;

  /** Sets the window's size, for tools whose window takes the size of its viewers (screen). */
  resize?(run: SessionRun, size: TerminalSize): Promise<void>;

  /**
   * Makes output go to the spool file with the next number, without loss. Absent: the tool numbers the files itself.
   */
  rotate?(run: SessionRun, next: number): Promise<void>;

  /** Makes output go to the first spool file again: the run's directory was removed from outside, and is made anew. */
  reopen(run: SessionRun): Promise<void>;

  /**
   * Splits bytes of the spool into output and the tool's own closing words, for tools that write the end into the spool
   * (screen). Bytes that may begin such words do not count as output until more is known. Absent: all bytes are output.
   */
  readEnd?(bytes: Buffer): SpoolEnd;

  /**
   * The exit in the `died` file, for tools that write it (tmux); undefined: nothing yet. Called only when the session's
   * first process is dead.
   */
  readDied?(run: SessionRun): SessionExit | undefined;

  /**
   * Ends the session after its exit is recorded. Does nothing when it does not exist. Never touches another session.
   */
  remove(run: SessionRun): Promise<void>;

  /** For tools that learn at once when the server of a session ends: calls `listener` with the session's name. */
  onGone?(listener: (name: string) => void): void;
}
