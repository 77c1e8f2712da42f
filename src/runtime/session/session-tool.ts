/**
 * What the session keeper needs of a terminal multiplexer (screen, tmux). The keeper is the detached process that
 * starts sessions, feeds their output into the log store and remembers exits; the multiplexer's own server holds the
 * terminals, so instances outlive daemon and keeper alike. Used inside the keeper only: keep the imports few.
 *
 * A run has a directory of its own (0700), shared by tool and keeper:
 *
 * ```
 * <sessions>/<instance id>.<run>/
 *   pid               written by the prelude inside the session before the command runs: the program's pid
 *   spool.000000 ...  raw output, appended by the tool, numbered; the keeper reads in order and deletes what it has read
 *   died              exit status as the tool says it, written once, after all output is in the spool (tools that can)
 * ```
 */

export interface SessionRun {
  readonly instanceId: string;
  readonly run: number;
  /** Name of the session for the tool and for an operator who attaches, unique under the root: `<instance id>.<run>` made safe. */
  readonly name: string;
  /** The run's directory; exists, 0700. */
  readonly directory: string;
}

export interface SessionStart extends SessionRun {
  /** Program and parameters that the session runs: the prelude, which becomes the command in the same process. */
  readonly file: string;
  readonly parameters: readonly string[];
  readonly workingDirectory: string;
  /** Complete; the tool may add what a terminal needs, and the prelude takes it out again. */
  readonly environment: Readonly<Record<string, string>>;
}

export interface SessionExit {
  /** Exit status, or null when a signal ended it or it is not known. */
  readonly code: number | null;
  /** Signal number, or null. */
  readonly signal: number | null;
}

/** What the end of a spool says (see SessionTool.readEnd): how many of the bytes are output, and the exit if it is there. */
export interface SpoolEnd {
  readonly outputBytes: number;
  readonly exit: SessionExit | undefined;
}

export interface SessionTool {
  readonly key: 'screen' | 'tmux';

  /** Starts the session, whose output goes to the spool from its first byte. Throws an Error for the operator. */
  start(start: SessionStart): Promise<void>;

  /** Names of the sessions that exist, dead ones that are kept for their exit status included. No session: none. */
  list(): Promise<ReadonlySet<string>>;

  /** Bytes to the program's standard input as they are. Throws when there is no such session. */
  write(run: SessionRun, bytes: Buffer): Promise<void>;

  /** From now on output goes to the spool with the next number; none is lost. Tools that number by themselves do nothing. */
  rotate(run: SessionRun, next: number): Promise<void>;

  /**
   * Splits bytes read from the spool into output and the tool's own closing words, for tools whose end stands in the
   * spool (screen). Bytes that may be the beginning of such words are not counted as output until more is known.
   */
  readEnd(bytes: Buffer): SpoolEnd;

  /** What the `died` file says, for tools that write it (tmux); undefined: nothing yet. */
  readDied(run: SessionRun): SessionExit | undefined;

  /** Ends the session once its exit is recorded. Nothing there is no error. Never touches another session. */
  remove(run: SessionRun): Promise<void>;
}
