/** One run of one command: what it works on, where it prints, and the options that all commands share. */
import { type Command, Option } from 'commander';
import type { CommandDependencies } from './dependencies.js';
import type { CommandOutput } from './output.js';
import { type Cell, renderTable } from './table.js';

export interface CommandContext {
  readonly dependencies: CommandDependencies;
  readonly output: CommandOutput;
  /** Aborts when nobody waits for the command any more. */
  readonly signal: AbortSignal;
  /** Columns of the reader's terminal, or undefined. */
  readonly columns: number | undefined;
}

/** The options of every command of Drover's own. */
export interface SharedOptions {
  readonly output: 'table' | 'json';
}

/** Adds a command that ends a path of words, such as `list` to `instance`. */
export function addCommand(parent: Command, usage: string, description: string): Command {
  const format = new Option('-o, --output <format>', 'table for people, json for programs');
  return parent
    .command(usage)
    .description(description)
    .addOption(format.choices(['table', 'json']).default('table'));
}

/** Prints the data as JSON if asked to, else the text. */
export async function show(
  { output }: CommandContext,
  options: SharedOptions,
  data: () => unknown,
  text: () => string | Promise<string>,
): Promise<void> {
  if (options.output === 'json') output.printJson(data());
  else output.print(await text());
}

/** A table as wide as the reader's terminal at most; `none` is said in its place when it has no rows. */
export async function tableOf(
  { columns }: CommandContext,
  head: readonly string[],
  rows: readonly (readonly Cell[])[],
  none: string,
): Promise<string> {
  return rows.length === 0 ? none : await renderTable(head, rows, { columns });
}

/** Names and values one below the other; those without a value are left out. */
export async function fieldsOf(fields: Readonly<Record<string, Cell>>): Promise<string> {
  const rows = Object.entries(fields).filter(
    ([, value]) => value !== null && value !== undefined && value !== '',
  );
  return renderTable([], rows);
}
