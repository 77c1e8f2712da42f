/**
 * Describes a command apart from what it does: its name, its options, and how its data is printed. Console and
 * client share the descriptions. No file of this directory imports a part of the daemon at run time, so that the
 * client starts at once.
 */
import type { Command } from 'commander';
import { DroverError } from '../model/errors.js';
import { type Cell, renderTable, type Screen } from './table.js';

/** How to print for this reader: the terminal's width, the master's time for ages, and how much of a table. */
export interface View extends Screen {
  /** Unix milliseconds by the clock of the master, for ages. */
  readonly now: number;
  /** True: tables print their additional columns too. */
  readonly isWide: boolean;
}

/** The failure of a part of a command's work, as text and exit code. */
export interface CommandFailure {
  readonly message: string;
  /** The exit code of the client; undefined: the code of any failure. */
  readonly exitCode: number | undefined;
}

/** One command. `Input`: the parsed arguments and options. `Data`: what the command found, as JSON holds it. */
export interface CommandDescription<Input, Data> {
  /**
   * Arguments, such as `<id>` or `[configuration]`; '' or absent: the command has no arguments, or `declare` adds them.
   */
  readonly usage?: string;
  readonly about: string;
  /** Adds options, and arguments that the text of `usage` cannot express. */
  readonly declare?: (command: Command) => void;
  /** Takes the arguments in order, then the options. Throws DRV_COMMAND_INVALID. */
  readonly input: (...typed: never[]) => Input;
  /**
   * Writes the data as text for people. Pure. Leaves out a field that the data lacks: the master may be older or
   * newer than the client.
   */
  readonly text: (data: Data, view: View, input: Input) => string | Promise<string>;
  /** True: the text is data, such as JSON or a log, so its lines are not wrapped. */
  readonly isVerbatim?: true;
  /** Makes the value that `-o json` prints; absent: the data is printed as it is. */
  readonly json?: (data: Data) => unknown;
  /** The names of the found objects, for `-o name`; absent: the objects have no names. */
  readonly names?: (data: Data) => readonly string[];
  /**
   * The destruction that a person confirms, such as `instance ab12cd is deleted`; absent or undefined: nothing is
   * destroyed.
   */
  readonly destroys?: (input: Input) => string | undefined;
  /** True: the run may ask a person before it goes on (`RunCall.confirm`). */
  readonly mayAsk?: boolean;
  /**
   * The part that failed although other parts were done; printed after the data. Absent or undefined: nothing failed.
   */
  readonly failure?: (data: Data) => CommandFailure | undefined;
}

/** Checks the parts of a description against each other. */
export function describe<Input, Data>(
  description: CommandDescription<Input, Data>,
): CommandDescription<Input, Data> {
  return description;
}

/** Returns a table that fits the reader's terminal, or the text `none` when there are no rows. */
export function tableOf(
  screen: Screen,
  head: readonly string[],
  rows: readonly (readonly Cell[])[],
  none: string,
): string {
  return rows.length === 0 ? none : renderTable(head, rows, screen);
}

/** Returns names and values, one below the other. Names without a value are left out. */
export function fieldsOf(fields: Readonly<Record<string, Cell>>): string {
  const rows = Object.entries(fields).filter(
    ([, value]) => value !== null && value !== undefined && value !== '',
  );
  return renderTable([], rows);
}

/** An answer that holds one sentence, and the name of the object under `Key`. */
export type Said<Key extends string> = Readonly<Record<'message' | Key, string>>;

export function messageText({ message }: { readonly message: string }): string {
  return message;
}

/** The input of a command without arguments. */
export function noInput(): Record<string, never> {
  return {};
}

/** The error for arguments or options that contradict each other, or lack something. */
export function invalid(message: string): DroverError {
  return new DroverError('DRV_COMMAND_INVALID', message);
}
