/** The command tree as the API uses it: `/commands` and `/console`. `Commands` implements it. */

import type { Access } from '../../access/access.js';

export interface CommandRunner {
  /** All commands, in the order of the help, those of extensions included. */
  list(): readonly ListedCommand[];
  /** Candidates for the last word of a line that is being typed, and that word. */
  complete(line: string): readonly [candidates: readonly string[], word: string];
  /** Runs one line, or the words of one; never throws. */
  run(line: string | readonly string[], session: CommandSession): Promise<{ readonly isOk: boolean }>;
}

export interface ListedCommand {
  /** The words that lead to it: `instance create`. */
  readonly path: string;
  /** With its arguments: `instance create <configuration> [count]`. */
  readonly usage: string;
  readonly about: string;
  readonly options: readonly { readonly flags: string; readonly about: string }[];
  /** It may destroy something: a person is asked first. */
  readonly destroys: boolean;
}

/** The caller of a line, and the reader of its output. */
export interface CommandSession {
  /** Null: the node's own terminal. */
  readonly access: Access | null;
  readonly address: string | null;
  /** Aborts when the output has no reader any more. */
  readonly signal: AbortSignal;
  /** Columns of the reader's terminal; undefined: tables are not cut. */
  readonly columns?: number | undefined;
  /** Called with each piece of output as the command prints it. */
  write(text: string): void;
}
