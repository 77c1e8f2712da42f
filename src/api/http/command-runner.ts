/** The command tree as `/commands` and `/console` use it. `Commands` implements it. */

import type { Access } from '../../access/access.js';

export interface CommandRunner {
  /** All commands, in the order of the help, including those of extensions. */
  list(): readonly ListedCommand[];
  /** The candidates for the last word of a line that is being typed, and that word. */
  complete(line: string): Promise<readonly [candidates: readonly string[], word: string]>;
  /** Runs a line, or the words of a line; never throws. */
  run(line: string | readonly string[], session: CommandSession): Promise<{ readonly isOk: boolean }>;
}

export interface ListedCommand {
  /** The words of the command, such as `instance create`. */
  readonly path: string;
  /** The words with the arguments, such as `instance create <configuration> [count]`. */
  readonly usage: string;
  readonly about: string;
  readonly options: readonly { readonly flags: string; readonly about: string }[];
  /** True: the command may destroy something, so a person is asked first. */
  readonly destroys: boolean;
}

/** The caller of a line, and the reader of its output. */
export interface CommandSession {
  /** Null: the node's own terminal. */
  readonly access: Access | null;
  readonly address: string | null;
  /** Aborts when nobody reads the output any more. */
  readonly signal: AbortSignal;
  /** The columns of the reader's terminal; undefined: tables are not cut. */
  readonly columns?: number | undefined;
  /** Called with each piece of output as the command prints it. */
  write(text: string): void;
}
