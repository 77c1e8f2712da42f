/** The command tree as the API sees it: `/commands/execute` and `/console` run lines of it. `Commands` implements it. */

export interface CommandRunner {
  /** Runs one line; never throws. */
  run(line: string, session: CommandSession): Promise<{ readonly isOk: boolean }>;
}

/** Who runs a line, and where its output goes. */
export interface CommandSession {
  /** For the audit trail: label of the key, or `terminal`. */
  readonly actor: string;
  readonly address: string | null;
  /** Aborts when nobody reads any more. */
  readonly signal: AbortSignal;
  /** Columns of the reader's terminal, or undefined: do not cut. */
  readonly columns?: number | undefined;
  /** Gets everything that the command prints, as it comes. */
  write(text: string): void;
}
