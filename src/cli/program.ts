/**
 * The command line of the executable. Each command's own file is loaded when the command is called, so `--help`
 * loads none.
 */
import { Command, Option } from 'commander';
import { addClientCommands } from '../client/client-commands.js';
import type { TargetOptions } from '../client/contexts/choose-target.js';
import { write } from '../client/print.js';
import { declareToken, newTokenOf, type TokenOptions } from '../command-tree/groups/tokens.js';
import type { StoreKind } from '../daemon/store-transfer.js';
import { requireOpenFiles } from '../files/open-files.js';
import { addImportCommands } from './import-program.js';
import type { JoinOptions } from './join-command.js';
import type { StartOptions } from './start-command.js';

/** Builds the program. Its commands end no process; they throw, and for wrong arguments they throw a CommanderError. */
export function buildProgram(version: string): Command {
  const program = new Command('drover')
    .description(
      'Keeps a declared number of processes running: desired state in JSON files and a REST API, reconcilers that hold it.',
    )
    .version(version)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void write(process.stdout, text),
      // Print nothing here: the executable prints the error.
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
      // Look before the program is loaded: loading opens more files than a low limit allows.
      requireOpenFiles();
      const { start } = await import('./start-command.js');
      await start({ ...options, version });
    });

  const token = program
    .command('token')
    .description('make a join token for other machines, on the master that runs in a directory')
    .option('--root <directory>', "the master's directory", '.');
  declareToken(token);
  token.action(async ({ root, ...options }: TokenOptions & { root: string }) => {
    const { makeToken } = await import('./token-command.js');
    process.stdout.write(await makeToken(root, newTokenOf(options), { version, sayWaits: say }));
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

  addClientCommands(program, {
    environment: process.env,
    connect: async (options: TargetOptions) => {
      const { chooseTarget } = await import('../client/contexts/choose-target.js');
      const { HttpConnection } = await import('../client/connection/http-connection.js');
      const surroundings = { environment: process.env, directory: process.cwd(), say };
      return new HttpConnection(await chooseTarget(options, surroundings), { version, sayWaits: say });
    },
    terminal: async () => (await import('../client/contexts/terminal.js')).processTerminal(),
    readInput: async () => (await import('node:stream/consumers')).text(process.stdin),
    stdout: process.stdout,
  });
  return program;
}

/**
 * Adds the commands that work on the state of a master. The master must be stopped for them, except for a backup of
 * etcd.
 */
function addStoreCommands(program: Command): void {
  const store = program.command('store').description("move, back up, restore and repair a master's state");
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
  add('repair', 'set the broken records of a damaged store aside, and keep the damaged file').action(
    async ({ root }: { root: string }) => print(await (await transfer()).repairStores(root)),
  );
}

function say(line: string): void {
  process.stderr.write(`${line}\n`);
}
