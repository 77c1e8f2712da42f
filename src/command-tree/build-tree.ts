/** Builds the commands into a program of the parser: for each line of a console, and once for the client. */
import type { Command } from 'commander';
import { COMMAND_PATHS, type CommandPath, descriptionOf, GROUPS, type Shown } from './commands.js';
import { addHelpCommand } from './help/help-command.js';

/** What differs between the console and the client. */
export interface TreeHost {
  /** Adds the options that the host gives to all commands of Drover. `path` undefined: the command is `help`. */
  addOptions(command: Command, path: CommandPath | undefined): void;
  /**
   * Runs a command. `input`: the typed words, as the command's description parsed them. `command` has all options.
   */
  perform(path: CommandPath, input: unknown, command: Command): Promise<void>;
  /** Prints what the help found. */
  show(shown: Shown, command: Command): Promise<void>;
  /** Finds commands that only a master knows, for the list of all commands. Absent: there are no such commands. */
  moreCommands?(
    command: Command,
  ): Promise<readonly { readonly usage: string; readonly description: string }[]>;
  /** Lines below the list of all commands. */
  readonly footer: readonly string[];
}

/** Adds all commands of Drover and their groups, `help` last. */
export function addCommands(program: Command, host: TreeHost): void {
  for (const path of COMMAND_PATHS) addCommand(groupOf(program, path.split(' ').slice(0, -1)), path, host);
  addHelpCommand(program, host);
}

/** Adds one command below `parent`. `name`: the word of the command there; default: the last word of `path`. */
export function addCommand(
  parent: Command,
  path: CommandPath,
  host: TreeHost,
  name = path.split(' ').at(-1) ?? path,
): Command {
  const { usage, about, declare, input } = descriptionOf(path);
  const command = parent.command(usage === undefined ? name : `${name} ${usage}`).description(about);
  host.addOptions(command, path);
  declare?.(command);
  // The parser passes the arguments, the options, and last the command itself.
  return command.action((...typed: unknown[]) =>
    host.perform(path, input(...(typed.slice(0, -1) as never[])), command),
  );
}

/** Returns the group that `words` name, and adds missing groups. */
function groupOf(program: Command, words: readonly string[]): Command {
  let group = program;
  for (const [depth, word] of words.entries()) {
    const known = group.commands.find((command) => command.name() === word);
    const about = GROUPS[words.slice(0, depth + 1).join(' ')] ?? '';
    group = known ?? group.command(word).description(about).helpCommand('help', 'show this');
  }
  return group;
}
