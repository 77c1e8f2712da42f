/**
 * The command line of the executable. Each command's own file is loaded when the command is called, so `--help`
 * loads none.
 */
import { Command, Option } from 'commander';
import { addClientCommands } from '../client/client-commands.js';
import type { TargetOptions } from '../client/contexts/choose-target.js';
import { contextCommand } from '../client/contexts/context-program.js';
import { write } from '../client/print.js';
import type { StoreKind } from '../daemon/store-transfer.js';
import { addImportCommands } from './import-program.js';
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
    .option('--as-master', 'it makes masters of the cluster, which get its secrets')
    .action(async ({ root, ...options }: TokenOptions & { root: string }) => {
      const { makeToken } = await import('./token-command.js');
      process.stdout.write(await makeToken(root, options, { version, sayWaits: say }));
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
    .option('--as-master', 'make it a master of the cluster, by a token of "drover token --as-master"')
    .action(async (token: string, { root, ...options }: JoinOptions & { root: string }) => {
      const { joinCluster } = await import('./join-command.js');
      process.stdout.write(await joinCluster(root, token, { ...options, say }));
    });

  addImportCommands(program);
  addStoreCommands(program);

  const surroundings = {
    environment: process.env,
    print: (text: string) => process.stdout.write(text),
    connect: async (options: TargetOptions) => {
      const { openConnection } = await import('../client/contexts/open-connection.js');
      const { processTerminal } = await import('../client/contexts/terminal.js');
      const { say } = processTerminal();
      return openConnection(
        options,
        { environment: process.env, directory: process.cwd(), say },
        { version, sayWaits: say },
      );
    },
    terminal: async () => (await import('../client/contexts/terminal.js')).processTerminal(),
    readInput: async () => (await import('node:stream/consumers')).text(process.stdin),
    stdout: process.stdout,
  };
  const context = contextCommand({
    ...surroundings,
    version,
    directory: () => process.cwd(),
  });
  inherit(context, program);
  program.addCommand(context);
  addClientCommands(program, surroundings);
  return program;
}

/**
 * Adds the commands on a master's state that run beside the master. It must be stopped, except for a backup of etcd.
 */
function addStoreCommands(program: Command): void {
  const store = program.command('store').description("move, back up and restore a master's state");
  const add = (usage: string, description: string): Command =>
    store.command(usage).description(description).option('--root <directory>', "the master's directory", '.');
  const transfer = () => import('../daemon/store-transfer.js');
  const print = (line: string): void => void process.stdout.write(`${line}\n`);
  add('migrate', 'move the state to the etcd of config.json, or from there into a file')
    .addOption(new Option('--to <kind>', 'where to').choices(['etcd', 'lmdb']).makeOptionMandatory())
    .action(async ({ root, to }: { root: string; to: StoreKind }) =>
      print(await (await transfer()).migrateStore(root, to, say)),
    );
  add('backup', 'write the state into a file; a master that is not on etcd must be stopped')
    .argument('<file>')
    .action(async (file: string, { root }: { root: string }) =>
      print(await (await transfer()).backupStore(root, file, say)),
    );
  add('restore', 'replace the state by that of a file of "drover store backup"')
    .argument('<file>')
    .action(async (file: string, { root }: { root: string }) =>
      print(await (await transfer()).restoreStore(root, file, say)),
    );
}

/** Gives a command that was built by itself, and those below it, what `parent.command()` would have given them. */
function inherit(command: Command, parent: Command): void {
  command.copyInheritedSettings(parent);
  for (const child of command.commands) inherit(child, command);
}

function say(line: string): void {
  process.stderr.write(`${line}\n`);
}
