/** `help`: lists every command, or describes one command in full. */
import type { Command } from 'commander';
import type { TreeHost } from '../build-tree.js';
import { renderTable } from '../table.js';
import { unknownCommand } from './unknown-command.js';
import { usageOf } from './usage.js';

export function addHelpCommand(program: Command, host: TreeHost): void {
  const help = program.command('help [command...]').description('all commands, or one in full');
  host.addOptions(help, undefined);
  help.action(async (words: readonly string[]) => {
    const command = find(program, words);
    const own = [...endsOf(command)].map((end) => ({ usage: usageOf(end), description: end.description() }));
    const more = command === program ? await host.moreCommands?.(help) : undefined;
    const listed = [...own, ...(more ?? [])];
    return host.show(
      {
        json: () => listed,
        text: (view) => {
          if (command.commands.length === 0) return command.helpInformation();
          const rows = listed.map(({ usage, description }) => [usage, description]);
          const table = renderTable(['COMMAND', 'WHAT IT DOES'], rows, view);
          return command === program ? [table, '', ...host.footer].join('\n') : table;
        },
        names: () => listed.map(({ usage }) => usage),
      },
      help,
    );
  });
}

/** Returns the command or group that the words name. Throws DRV_COMMAND_INVALID. */
function find(program: Command, words: readonly string[]): Command {
  let command = program;
  for (const word of words) {
    const next = command.commands.find((known) => known.name() === word || known.aliases().includes(word));
    if (next === undefined) throw unknownCommand(command, word);
    command = next;
  }
  return command;
}

/** The commands that can be run, in the order of the tree. */
export function* endsOf(command: Command): Generator<Command> {
  if (command.commands.length === 0) yield command;
  // Leave out hidden commands, and the `help` that the parser adds to groups.
  const visible = command.createHelp().visibleCommands(command);
  for (const child of command.commands.filter((one) => visible.includes(one))) yield* endsOf(child);
}
