/**
 * The command line of the executable. Each command's own file is loaded when the command is called, so `--help`
 * loads none.
 */
import { Command } from 'commander';
import { addClientCommands } from '../client/client-commands.js';
import { contextCommand } from '../client/contexts/context-program.js';
import { write } from '../client/print.js';
import type { JoinOptions } from './join-command.js';
import type { StartOptions } from './start-command.js';
import type { TokenOptions } from './token-command.js';

/** Its commands throw, a CommanderError for what is typed wrong; they end no process. */
export function buildProgram(version: string): Command {
  const program = new Command('drover')
    .description(
      'Keeps a declared number of processes running: desired state in JSON files and a REST API, reconcilers that hold it.',
    )
    .version(version)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void write(process.stdout, text),
      // The executable prints the error.
      outputError: () => undefined,
    })
    .helpCommand(false);

  program
    .command('start')
    .description(
      'start a node in a directory; it runs until Ctrl-C (instances stop) or SIGTERM (instances go on)',
    )
    .option(
      '--root <directory>',
      "the node's directory: config.json, configurations/, templates/, data/",
      '.',
    )
    .option(
      '--accept-older',
      'take a master whose store is older than what this node has seen, such as a restored backup',
      false,
    )
    .action(async (options: Omit<StartOptions, 'version'>) => {
      const { start } = await import('./start-command.js');
      await start({ ...options, version });
    });

  program
    .command('token')
    .description('make a join token for other machines, on the master that runs in a directory')
    .option('--root <directory>', "the master's directory", '.')
    .option('--label <label>', 'what it is for')
    .option('--expires <time>', 'when it ends: 1h, 7d, never (default: 24h)')
    .option('--uses <count>', 'how many nodes may join with it: a number, or any (default: 1)')
    .action(async ({ root, ...options }: TokenOptions & { root: string }) => {
      const { makeToken } = await import('./token-command.js');
      process.stdout.write(await makeToken(root, options));
    });

  program
    .command('join')
    .description('make a directory a node of the cluster of a join token; "drover start" then joins it')
    .argument('<token>', 'printed by "drover token" on the master')
    .requiredOption('--master <host:port>', "the master's address and cluster port")
    .option('--root <directory>', "the node's directory", '.')
    .option('--node-id <id>', 'name of this node in the cluster (default: the host name)')
    .option(
      '--address <address>',
      'address of this machine for others (default: the one that reaches the master)',
    )
    .action(async (token: string, { root, ...options }: JoinOptions & { root: string }) => {
      const { joinCluster } = await import('./join-command.js');
      process.stdout.write(await joinCluster(root, token, options));
    });

  const context = contextCommand({
    version,
    environment: process.env,
    directory: () => process.cwd(),
    print: (text) => process.stdout.write(text),
    readInput: async () => (await import('node:stream/consumers')).text(process.stdin),
    terminal: async () => (await import('../client/contexts/terminal.js')).processTerminal(),
  });
  inherit(context, program);
  program.addCommand(context);

  addClientCommands(program, {
    connect: async (options) => {
      const { openConnection } = await import('../client/contexts/open-connection.js');
      const { processTerminal } = await import('../client/contexts/terminal.js');
      const surroundings = { environment: process.env, directory: process.cwd(), say: processTerminal().say };
      return openConnection(options, surroundings, { version });
    },
    terminal: async () => (await import('../client/contexts/terminal.js')).processTerminal(),
    stdout: process.stdout,
  });
  return program;
}

/** Gives a command that was built by itself, and those below it, what `parent.command()` would have given them. */
function inherit(command: Command, parent: Command): void {
  command.copyInheritedSettings(parent);
  for (const child of command.commands) inherit(child, command);
}
