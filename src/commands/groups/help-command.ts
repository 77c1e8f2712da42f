/** `help`: every command, or one in full. */

import type { Command } from 'commander';
import { DroverError } from '../../model/errors.js';
import { quoteText } from '../../model/words.js';
import { addCommand, type CommandContext, type SharedOptions, show } from '../context.js';
import { suggest } from '../find.js';
import { renderTable } from '../table.js';
import { usageOf } from '../usage.js';

const FOOTER = [
  'Every command has --help; those that show something print JSON with -o json.',
  'On a console, exit closes it.',
];

export function addHelpCommand(program: Command, context: CommandContext): void {
  addCommand(program, 'help [command...]', 'all commands, or one in full').action(
    async (words: readonly string[], options: SharedOptions) => {
      const command = find(program, words);
      const listed = [...endsOf(command)].map((end) => ({
        usage: usageOf(end),
        description: end.description(),
      }));
      await show(
        context,
        options,
        () => listed,
        async () => {
          if (command.commands.length === 0) return command.helpInformation();
          const table = await renderTable(
            ['COMMAND', 'WHAT IT DOES'],
            listed.map(({ usage, description }) => [usage, description]),
            { columns: context.columns },
          );
          return command === program ? [table, '', ...FOOTER].join('\n') : table;
        },
      );
    },
  );
}

/** Returns the command or group that the words name. Throws DRV_COMMAND_INVALID. */
function find(program: Command, words: readonly string[]): Command {
  let command = program;
  for (const word of words) {
    const next = command.commands.find((known) => known.name() === word);
    if (next === undefined) {
      const names = command.commands.map((known) => known.name());
      throw new DroverError(
        'DRV_COMMAND_INVALID',
        `unknown command ${quoteText(word)}${suggest(word, names, 'help')}`,
      );
    }
    command = next;
  }
  return command;
}

/** The commands that can be run, in the order of the tree. */
function* endsOf(command: Command): Generator<Command> {
  if (command.commands.length === 0) yield command;
  for (const child of command.commands) yield* endsOf(child);
}
