/** `extension list`, and the commands that extensions add. */
import type { Command } from 'commander';
import type { ExtensionCommand, ExtensionStatus } from '../../extensions/extension.js';
import { DroverError, messageOf } from '../../model/errors.js';
import { addCommand, type CommandContext, type SharedOptions, show, tableOf } from '../context.js';

export function addExtensionList(program: Command, context: CommandContext): void {
  const group = program.command('extension').description('extensions of this node');
  addCommand(group, 'list', 'all extensions, what they add, and which failed').action(
    (options: SharedOptions) => {
      const listed = context.dependencies.extensions.list();
      const rows = listed.map((status) => [status.id, status.version, status.state, aboutOf(status)]);
      return show(
        context,
        options,
        () => listed,
        () => tableOf(context, ['ID', 'VERSION', 'STATE', 'ABOUT'], rows, 'there are no extensions'),
      );
    },
  );
}

/** What an extension adds and is, or what is wrong with it. */
function aboutOf({ state, error, adds, description, name }: ExtensionStatus): string {
  if (error !== null) return state === 'active' ? `${adds.join(', ')}; last error: ${error}` : error;
  const parts = [adds.join(', '), description ?? name].filter((part) => part !== '');
  return parts.join('; ');
}

/** Adds the commands of extensions. One with the name of a command of Drover is left out. */
export function addExtensionCommands(program: Command, context: CommandContext): void {
  const own = new Set(program.commands.map((command) => command.name()));
  for (const command of context.dependencies.extensions.commands())
    if (!own.has(command.name)) addExtensionCommand(program, context, command);
}

function addExtensionCommand(
  program: Command,
  { output, signal }: CommandContext,
  command: ExtensionCommand,
): void {
  const { name, usage = '', description } = command;
  program
    .command(name)
    .description(description)
    .usage(usage)
    .helpOption(false)
    .argument('[words...]')
    // The extension parses its words itself, options included.
    .allowUnknownOption()
    .passThroughOptions()
    .action(async (words: readonly string[]) => {
      try {
        await command.run(words, { print: (line) => output.print(String(line)), signal });
      } catch (error) {
        throw new DroverError('DRV_EXTENSION_FAILED', `${name}: ${messageOf(error)}`, { cause: error });
      }
    });
}
