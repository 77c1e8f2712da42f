/**
 * The commands of the console in the executable, for a master anywhere. Building them loads nothing but words; what a
 * command does is loaded when it is called.
 */
import { type Command, Option } from 'commander';
import { addCommands, type TreeHost } from '../command-tree/build-tree.js';
import { descriptionOf, runCommand, type Shown } from '../command-tree/commands.js';
import { addAliases } from './aliases.js';
import type { ApiConnection } from './connection/connection.js';
import type { TargetOptions } from './contexts/choose-target.js';
import type { Terminal } from './contexts/terminal.js';
import { FORMATS, type Format, noNames, textOf, write } from './print.js';

export interface ClientSurroundings {
  /** Throws a ClientError. Called once a command is known to be well-formed. */
  connect(options: TargetOptions): Promise<ApiConnection>;
  /** Where a person can be asked. */
  terminal(): Promise<Terminal>;
  readonly stdout: NodeJS.WritableStream & Partial<Pick<NodeJS.WriteStream, 'isTTY' | 'columns'>>;
}

interface ClientOptions extends TargetOptions {
  readonly output: Format;
  readonly yes?: boolean;
}

const FOOTER = [
  'Every command has --help; those that show something print for programs with -o json.',
  'start, join and token work on a directory of this machine; all others on a master anywhere.',
];

/** Adds the commands, and the names that kubectl has for them. */
export function addClientCommands(program: Command, surroundings: ClientSurroundings): void {
  const { stdout } = surroundings;
  const print = async (shown: Shown, format: Format, now: number): Promise<void> => {
    // Some terminals do not know their width and say 0.
    const columns = stdout.isTTY ? stdout.columns || undefined : undefined;
    await write(stdout, await textOf(shown, format, { columns, now }));
  };
  const host: TreeHost = {
    addOptions: (command, path) => {
      const format = new Option('-o, --output <format>', 'wide has more columns, name only names');
      command.addOption(format.choices(FORMATS).default('table'));
      if (path === undefined) return;
      command
        .option('--context <name>', 'the master to talk to, by its name in "drover context list"')
        .option('--root <directory>', 'the master to talk to, by its directory on this machine');
      if (descriptionOf(path).destroys !== undefined)
        command.option('-y, --yes', 'do not ask before something is destroyed');
    },
    perform: async (path, input, command) => {
      const { output, yes, context, root } = command.optsWithGlobals<ClientOptions>();
      const { names, destroys } = descriptionOf(path);
      if (output === 'name' && names === undefined) throw noNames();
      const { ApiClient } = await import('./api-client.js');
      const { clientRuns } = await import('./runs/client-runs.js');
      const api = new ApiClient(await surroundings.connect({ context, root }));
      const destroyed = destroys?.(input as never);
      if (destroyed !== undefined && yes !== true) {
        const { confirm } = await import('./confirm.js');
        await confirm(destroyed, api, await surroundings.terminal());
      }
      const isForPeople = output === 'table' || output === 'wide';
      const said: Promise<void>[] = [];
      const shown = await runCommand(clientRuns(api), path, input, {
        // Ctrl-C ends the program.
        signal: new AbortController().signal,
        say: (text) => {
          if (isForPeople) said.push(write(stdout, `${text}\n`));
        },
      });
      await Promise.all(said);
      await print(shown, output, api.now);
    },
    show: (shown, command) => print(shown, command.opts<ClientOptions>().output, Date.now()),
    footer: FOOTER,
  };
  addCommands(program, host);
  addAliases(program, host);
}
