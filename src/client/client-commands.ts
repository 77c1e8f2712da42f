/**
 * All client commands: those of the console, those that only the client has, and kubectl's names for them. Building
 * them loads only declarations; the code of a command is loaded when it runs.
 */
import type { Command } from 'commander';
import { addCommands, type TreeHost } from '../command-tree/build-tree.js';
import { type CommandPath, descriptionOf, runCommand } from '../command-tree/commands.js';
import { refuseUnknownCommands, unknownCommand } from '../command-tree/help/unknown-command.js';
import { ClientError, EXIT, usageError } from '../command-tree/runs/client-error.js';
import { addAliases } from './aliases.js';
import type { ApiClient } from './api-client.js';
import { ClientHost, type ClientOptions, type ClientSurroundings } from './commands/client-host.js';
import { addGlobalOptions } from './commands/global-options.js';
import { addOwnCommands } from './commands/own-commands.js';
import { addContextCommands } from './contexts/context-program.js';
import { finishHelp } from './help-screen.js';
import { type ColorWhen, noNames } from './print.js';

/** Short, because the help is also shown without the master's answer. */
const HELP_PATIENCE_MS = 300;
const FOOTER = [
  'Every command has --help; those that show something print for programs with -o json.',
  'start, token, join, import and store work on a directory of this machine; all others on a master anywhere.',
];

/** The commands that take `--watch` (`live/watch-list.ts`). */
const WATCHED: ReadonlySet<CommandPath> = new Set([
  'instance list',
  'config list',
  'cluster nodes',
  'template list',
]);

type WatchOptions = ClientOptions & { readonly watch?: true };

export function addClientCommands(program: Command, surroundings: ClientSurroundings): void {
  const host = new ClientHost(surroundings);
  const treeHost = treeHostOf(host);
  addContextCommands(program, surroundings);
  addGlobalOptions(program);
  program.hook('preAction', (_program, command) => {
    host.color = command.opts<{ readonly color?: ColorWhen }>().color ?? 'auto';
  });
  addCommands(program, treeHost);
  addOwnCommands(program, host);
  addAliases(program, treeHost, host);
  addExtensionCommands(program, host);
  // The program itself has a command for unknown words, which may be those of extensions.
  for (const group of program.commands) if (group.commands.length > 0) refuseUnknownCommands(group);
  finishHelp(program);
}

function treeHostOf(host: ClientHost): TreeHost {
  return {
    addOptions: (command, path) => {
      host.addShown(command);
      if (path === undefined) return;
      if (WATCHED.has(path))
        command.option('-w, --watch', 'go on with what changes: drawn again on a terminal, else row by row');
      const { destroys, mayAsk } = descriptionOf(path);
      if (destroys !== undefined || mayAsk === true) host.addYes(command);
    },
    perform: async (path, input, command) => {
      const options = command.optsWithGlobals<WatchOptions>();
      const { names, destroys } = descriptionOf(path);
      if (options.output === 'name' && names === undefined) throw noNames();
      const { commandRuns } = await import('../command-tree/runs/command-runs.js');
      const api = await host.open(options);
      const destroyed = destroys?.(input as never);
      if (destroyed !== undefined) await host.confirm({ what: destroyed, list: [] }, api, options);
      if (options.watch === true) return runWatched(host, api, path, input, options);
      const said: Promise<void>[] = [];
      const shown = await runCommand(commandRuns(api), path, input, {
        // A signal that never aborts: Ctrl-C ends the program directly.
        signal: new AbortController().signal,
        say: (text) => void said.push(host.say(text, options.output)),
        confirm: (question) => host.confirm(question, api, options),
      });
      await Promise.all(said);
      await host.print(shown, options.output, api.now);
      if (shown.failure === undefined) return;
      throw new ClientError(shown.failure.exitCode ?? EXIT.failed, shown.failure.message);
    },
    show: (shown, command) => host.print(shown, command.opts<ClientOptions>().output, Date.now()),
    moreCommands: async (command) => {
      const { askExtensionCommands } = await import('./commands/extension-runs.js');
      const known = await askExtensionCommands(host, command.opts<ClientOptions>(), HELP_PATIENCE_MS);
      return (known ?? []).map(({ name, usage, description }) => ({
        usage: `${name} ${usage}`.trimEnd(),
        description,
      }));
    },
    footer: FOOTER,
  };
}

/** Runs a command with `--watch`. Throws a ClientError. */
async function runWatched(
  host: ClientHost,
  api: ApiClient,
  path: CommandPath,
  input: unknown,
  { output: format }: WatchOptions,
): Promise<void> {
  if (format === 'yaml') throw usageError('--watch prints no YAML: use -o json');
  const { watchList } = await import('./live/watch-list.js');
  const { stdout } = host.surroundings;
  const isDrawn = stdout.isTTY === true && (format === 'table' || format === 'wide');
  const options = { format, terminal: isDrawn ? stdout : undefined };
  await watchList(api, path, input, options, await host.liveOutput());
}

/**
 * Adds the commands of extensions: `drover greet bob`. Only the master knows them: the client asks the master when the
 * first word is none of Drover's commands.
 */
function addExtensionCommands(program: Command, host: ClientHost): void {
  // Words after an extension's command belong to that command, options included.
  program.passThroughOptions();
  const command = program
    // The parser's name for any unknown command.
    .command('*', { hidden: true })
    .argument('[words...]')
    .helpOption(false);
  host.addTarget(command).action(async ([name = '', ...words]: readonly string[]) => {
    const options = command.opts<ClientOptions>();
    const { runExtensionCommand } = await import('./commands/extension-runs.js');
    if (!(await runExtensionCommand(host, options, [name, ...words]))) throw unknownCommand(program, name);
  });
}
