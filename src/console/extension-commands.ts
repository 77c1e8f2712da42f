/** The commands that extensions add to the console. */
import type { Command } from 'commander';
import type { ExtensionCommand } from '../extensions/extension.js';
import { DroverError, messageOf } from '../model/errors.js';
import type { CommandContext } from './context.js';

/** Adds the commands of extensions. A command with the name of one of Drover's own is left out. */
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
    // Drover does not know the options of the extension's command: the extension parses them.
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
