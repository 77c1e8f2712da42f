/** The command tree as the API uses it: `/commands/execute` and `/console` run its lines. `Commands` implements it. */

export interface CommandRunner {
  /** Runs one line; never throws. */
  run(line: string, session: CommandSession): Promise<{ readonly isOk: boolean }>;
}

/** The caller of a line, and the reader of its output. */
export interface CommandSession {
  /** For the audit trail: the label of the caller's key, or `terminal`. */
  readonly actor: string;
  readonly address: string | null;
  /** Aborts when the output has no reader any more. */
  readonly signal: AbortSignal;
  /** Columns of the reader's terminal; undefined: tables are not cut. */
  readonly columns?: number | undefined;
  /** Called with each piece of output as the command prints it. */
  write(text: string): void;
}
