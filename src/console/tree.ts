/** Builds a new command tree for every line, so that lines that run at once share nothing. */
import { Command, Option } from 'commander';
import { addCommands } from '../command-tree/build-tree.js';
import { descriptionOf, runCommand, type Shown } from '../command-tree/commands.js';
import { refuseUnknownCommands } from '../command-tree/help/unknown-command.js';
import { fullUsageOf } from '../command-tree/help/usage.js';
import type { ApiCalls } from '../command-tree/runs/api-calls.js';
import { commandRuns } from '../command-tree/runs/command-runs.js';
import type { Asker } from '../command-tree/selection/act.js';
import type { ExtensionCommand } from '../extensions/extension.js';
import type { ExtensionRegistry } from '../extensions/registry.js';
import type { Clock } from '../loop/clock.js';
import { DroverError, messageOf } from '../model/errors.js';
import { wrapText } from '../model/plain/wrap-text.js';
import { PartFailed } from './failure.js';
import type { CommandOutput } from './output.js';

const HELP_COLUMNS = 100;
const FOOTER = [
  'Every command has --help; those that show something print JSON with -o json.',
  'On a console, exit closes it.',
];

interface CommandContext {
  readonly extensions: Pick<ExtensionRegistry, 'commands'>;
  readonly clock: Clock;
  readonly api: ApiCalls;
  readonly output: CommandOutput;
  /** Aborts when the caller no longer waits for the command. */
  readonly signal: AbortSignal;
  /** Columns of the reader's terminal; undefined: tables are not cut. */
  readonly columns: number | undefined;
}

/**
 * Builds the tree. Its commands print to the context's output only and never end the process; errors are
 * CommanderErrors.
 */
export function buildTree(context: CommandContext): Command {
  const { output, api, signal, clock, columns } = context;
  const program = new Command('drover')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => output.print(text),
      writeErr: (text) => output.print(text),
      // Print nothing here: the command runner prints the error.
      outputError: () => undefined,
      getOutHelpWidth: () => columns ?? HELP_COLUMNS,
      getErrHelpWidth: () => columns ?? HELP_COLUMNS,
      getOutHasColors: () => false,
      getErrHasColors: () => false,
    })
    .configureHelp({ commandUsage: fullUsageOf })
    .helpOption('-h, --help', 'show help')
    .helpCommand(false)
    .enablePositionalOptions();
  const isForPrograms = (command: Command): boolean => command.opts<{ output: string }>().output === 'json';
  const show = async (shown: Shown, command: Command): Promise<void> => {
    if (isForPrograms(command)) output.printJson(shown.json());
    else {
      const text = await shown.text({ columns, now: clock.now(), isWide: false });
      output.print(columns === undefined || shown.isVerbatim === true ? text : wrapText(text, columns));
    }
  };
  const runs = commandRuns(api);
  addCommands(program, {
    addOptions: (command, path) => {
      if (path !== undefined && descriptionOf(path).mayAsk === true)
        command.option('-y, --yes', 'do it without having been shown first what it does');
      const format = new Option('-o, --output <format>', 'table for people, json for programs');
      command.addOption(format.choices(['table', 'json']).default('table'));
    },
    perform: async (path, input, command) => {
      const say = (text: string): void => {
        if (!isForPrograms(command)) output.print(text);
      };
      const { yes } = command.opts<{ readonly yes?: true }>();
      const confirm: Asker = async ({ what, list }) => {
        if (yes === true) return;
        // The console cannot ask a person, so it prints the list and throws.
        say(list.join('\n'));
        throw new DroverError('DRV_COMMAND_INVALID', `${what}: nothing was done yet, add --yes to do it`);
      };
      const shown = await runCommand(runs, path, input, { signal, say, confirm });
      await show(shown, command);
      if (shown.failure !== undefined) throw new PartFailed(shown.failure.message, isForPrograms(command));
    },
    show,
    footer: FOOTER,
  });
  // Leave out a command of an extension that has the name of one of Drover's own commands.
  const own = new Set(program.commands.map((command) => command.name()));
  for (const command of context.extensions.commands())
    if (!own.has(command.name)) addExtensionCommand(program, context, command);
  refuseUnknownCommands(program);
  return program;
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
