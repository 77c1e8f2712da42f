/** Builds the command tree, anew for every line, so that lines that run at once share nothing. */
import { Command } from 'commander';
import type { CommandContext } from './context.js';
import { addClusterCommands } from './groups/cluster-commands.js';
import { addConfigCommands } from './groups/config-commands.js';
import { addExtensionCommands, addExtensionList } from './groups/extension-commands.js';
import { addHelpCommand } from './groups/help-command.js';
import { addInstanceCommands } from './groups/instance-commands.js';
import { addKeyCommands } from './groups/key-commands.js';
import { addNodeCommands, addStopCommand } from './groups/node-commands.js';
import { addSessionCommands } from './groups/session-commands.js';
import { addTemplateCommands } from './groups/template-commands.js';
import { fullUsageOf } from './usage.js';

const HELP_COLUMNS = 100;

/**
 * Builds the tree. Its commands print to the context's output only and never end the process; errors are
 * CommanderErrors.
 */
export function buildTree(context: CommandContext): Command {
  const program = new Command('drover')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => context.output.print(text),
      writeErr: (text) => context.output.print(text),
      // The command runner prints the error.
      outputError: () => undefined,
      getOutHelpWidth: () => context.columns ?? HELP_COLUMNS,
      getErrHelpWidth: () => context.columns ?? HELP_COLUMNS,
      getOutHasColors: () => false,
      getErrHasColors: () => false,
    })
    .configureHelp({ commandUsage: fullUsageOf })
    .helpOption('-h, --help', 'show help')
    .helpCommand(false)
    .enablePositionalOptions();
  addInstanceCommands(program, context);
  addConfigCommands(program, context);
  addTemplateCommands(program, context);
  addClusterCommands(program, context);
  addNodeCommands(program, context);
  addKeyCommands(program, context);
  addSessionCommands(program, context);
  addExtensionList(program, context);
  addStopCommand(program, context);
  addHelpCommand(program, context);
  addExtensionCommands(program, context);
  for (const group of program.commands) if (group.commands.length > 0) group.helpCommand('help', 'show this');
  return program;
}
