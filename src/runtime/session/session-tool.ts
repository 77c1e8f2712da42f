/**
 * What the session owner needs of a terminal multiplexer (screen, tmux). The session owner is the detached process that
 * starts sessions, feeds their output into the log store and remembers exits; the multiplexer's own server holds the
 * terminals, so instances outlive daemon and session owner alike. Used inside the session owner only: keep the imports few.
 *
 * A run has a directory of its own (0700), shared by tool and session owner:
 *
 * ```
 * <sessions>/<instance id>.<run>/
 *   run.json          the session owner's own record, with place.json and exit.json; no business of the tool
 *   pid, said, status written by the shell inside the session (session-prelude.ts): processes, and how the command ended
 *   spool.000000 ...  raw output, appended by the tool, numbered; the session owner reads in order and deletes what it has read
 *   died              exit status as the tool says it, written once, after all output is in the spool (tools that can)
 *   <tool>.log        what the tool's programs said, told when a session does not begin
 *   <tool>.*          whatever else the tool needs (`screen.stdin.3`, `tmux.conf`); goes with the directory
 * ```
 */
import type { TerminalSize } from '../../model/run/attachment.js';

/** The parameters of a tool's constructor: `new ScreenTool(place)`, `new TmuxTool(place)`. */
export interface ToolPlace {
  /** 0700, exists, of this root and tool alone. A socket in it may have a name of up to 32 bytes. */
  readonly socketDirectory: string;
  /** 0700, exists. Holds the directories of the runs, and files that all sessions of the tool share. */
  readonly directory: string;
  /** Where programs are searched, at every call: the daemon's `PATH` (see find-program.ts). */
  readonly path: string;
}

export interface SessionRun {
  readonly instanceId: string;
  readonly run: number;
  /**
   * Name of the session for the tool and for an operator who attaches, unique under the root: `<instance
   * id>-<run>`.
   */
  readonly name: string;
  /** The run's directory; exists, 0700. */
  readonly directory: string;
}

export interface SessionStart extends SessionRun {
  /** Program and parameters that the session runs: a shell that stays beside the command and reports its end. */
  readonly file: string;
  readonly parameters: readonly string[];
  readonly workingDirectory: string;
  /** Complete. What the tool adds (its `variables`) the prelude removes again. */
  readonly environment: Readonly<Record<string, string>>;
}

export interface SessionExit {
  /** Exit status; null when a signal ended it or it is unknown. */
  readonly code: number | null;
  /** Signal number, or null. */
  readonly signal: number | null;
}

/**
 * What the end of a spool says (see SessionTool.readEnd): how many of the bytes are output, and the exit if it is
 * there.
 */
export interface SpoolEnd {
  readonly outputBytes: number;
  readonly exit: SessionExit | undefined;
}

/** The program does not read, and too much waits for it already: the bytes were not taken. */
export class InputFull extends Error {}

/** A program that shows a session on the terminal that it is started on. */
export interface ViewCall {
  readonly file: string;
  readonly parameters: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
}

export interface SessionTool {
  readonly key: 'screen' | 'tmux';

  /** Variables that the tool sets for its programs. The prelude removes them, or restores their own values. */
  readonly variables: readonly string[];

  /**
   * Lines of shell that the session's shell runs after its last words, for tools that may miss output written right
   * before the session's first process ends (tmux). Absent: the shell ends at once.
   */
  readonly beforeEnd?: string;

  /** Starts the session, whose output goes to the spool from its first byte. Throws an Error for the operator. */
  start(start: SessionStart): Promise<void>;

  /** Names of all sessions that exist, including dead ones that are kept for their exit status. */
  list(): Promise<ReadonlySet<string>>;

  /**
   * False when the session's server is gone for certain. Cheap and spawns nothing: the owner asks for every session
   * every 2 s, and often in between. True while a start is under way.
   */
  isServed(run: SessionRun): boolean;

  /** So much may wait at the tool for a program that does not read. Infinity: the tool bounds it itself. */
  readonly mostUnreadBytes: number;

  /**
   * Writes bytes to the session's terminal unchanged. Throws when there is no such session. The owner makes one call
   * at a time for a run and has merged what waited (up to 64 KB).
   */
  write(run: SessionRun, bytes: Buffer): Promise<void>;

  /**
   * Resolves when all that was written is in the terminal, or as much as it has space for. Throws when there is no
   * such session.
   */
  flush(run: SessionRun): Promise<void>;

  /**
   * The program that shows the session, beside all others who look at it. Nothing is ever typed there: keys of the tool
   * itself could start programs, as Drover's user. Throws when there is no such session.
   */
  view(run: SessionRun): Promise<ViewCall>;

  /** For tools whose window takes the size of who looks at it (screen): gives the window a size. */
  resize?(run: SessionRun, size: TerminalSize): Promise<void>;

  /**
   * From now on output goes to the spool file with the next number; none is lost. Tools that number by themselves
   * do nothing.
   */
  rotate(run: SessionRun, next: number): Promise<void>;

  /**
   * Splits bytes of the spool into output and the tool's own closing words, for tools whose end stands in the spool
   * (screen). Bytes that may begin such words do not count as output until more is known.
   */
  readEnd(bytes: Buffer): SpoolEnd;

  /**
   * The exit in the `died` file, for tools that write it (tmux); undefined: nothing yet. Asked only when the
   * session's first process is dead.
   */
  readDied(run: SessionRun): SessionExit | undefined;

  /** Ends the session once its exit is recorded. A missing session is no error. Never touches another session. */
  remove(run: SessionRun): Promise<void>;

  /** For tools that hear at once when the server of a session ends: calls `listener` with the session's name. */
  onGone?(listener: (name: string) => void): void;
}
