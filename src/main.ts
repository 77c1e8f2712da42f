#!/usr/bin/env node
/** The executable: reads the command line, starts a node, and turns signals into an orderly end. */
import { readFileSync } from 'node:fs';
import { Command } from 'commander';
import { ExtensionFaults } from './extensions/extension-faults.js';
import type { JoinOptions } from './join-command.js';
import { MemberNode } from './member-node.js';
import { DroverError, messageOf } from './model/errors.js';
import type { StartedNode } from './start-daemon.js';
import { canPrompt, TerminalPrompt } from './terminal.js';
import type { TokenOptions } from './token-command.js';
import { describeWelcome } from './welcome.js';

/** How long the start waits for the declared instances before it says what is running. */
const STANDING_WAIT_MS = 5000;
/** npm passes Ctrl-C on to a process that got it from the terminal already: one press is one. */
const SAME_PRESS_MS = 500;
/** Instances named in one line of progress. */
const SHOWN_AT_MOST = 10;

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

const program = new Command('drover')
  .description(
    'Keeps a declared number of processes running: desired state in JSON files and a REST API, reconcilers that hold it.',
  )
  .version(version)
  .showHelpAfterError();

program
  .command('start')
  .description(
    'start a node in a directory; it runs until Ctrl-C (instances stop) or SIGTERM (instances go on)',
  )
  .option('--root <directory>', "the node's directory: config.json, configurations/, templates/, data/", '.')
  .action(async ({ root }: { root: string }) => {
    const { stdout: output } = process;
    const prompt = canPrompt(process.env.TERM)
      ? new TerminalPrompt({ input: process.stdin, output })
      : undefined;
    const faults = new ExtensionFaults();
    const stop = (): void => void process.kill(process.pid, 'SIGTERM');
    // Loaded only here: half a second that --help and --version need not wait for, and that signals may fall into.
    const starting = import('./start-daemon.js').then(({ startDaemon }) =>
      startDaemon({ root, version, terminal: prompt ?? true, stop, faults }),
    );
    const signals = handleSignals(starting, faults, () => prompt?.stop());
    const daemon = await starting;
    await daemon.untilStanding(STANDING_WAIT_MS);
    if (signals.isEnding) return;
    const options = { hasPrompt: prompt !== undefined };
    const lines = daemon instanceof MemberNode ? daemon.describe(options) : describeWelcome(daemon, options);
    output.write(`${lines.join('\n')}\n`);
    prompt?.start(daemon.commands);
  });

program
  .command('token')
  .description('make a join token for other machines, on the master that runs in a directory')
  .option('--root <directory>', "the master's directory", '.')
  .option('--label <label>', 'what it is for')
  .option('--expires <time>', 'when it ends: 1h, 7d, never (default: 24h)')
  .option('--uses <count>', 'how many nodes may join with it (default: any number)')
  .action(async ({ root, ...options }: TokenOptions & { root: string }) => {
    const { makeToken } = await import('./token-command.js');
    process.stdout.write(await makeToken(root, options));
  });

program
  .command('join')
  .description('make a directory a node of the cluster that a join token is of; "drover start" then joins it')
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

program.parseAsync().catch((error: unknown) => {
  process.stderr.write(`drover: ${error instanceof DroverError ? error.message : (error as Error).stack}\n`);
  process.exit(1);
});

/** Signals that come while the node still starts take effect as soon as it has. `onEnding` is called at the first. */
function handleSignals(
  starting: Promise<StartedNode>,
  faults: ExtensionFaults,
  onEnding: () => void,
): { readonly isEnding: boolean } {
  let interruptedAt: number | undefined;
  let isEnding = false;
  const endWith = (how: (daemon: StartedNode) => Promise<void>): void => {
    isEnding = true;
    onEnding();
    // A start that fails says so itself.
    starting.then((daemon) => endBy(daemon, how), ignore);
  };
  // SIGHUP: the terminal went away, which is no reason to end what runs.
  for (const signal of ['SIGTERM', 'SIGHUP'] as const)
    process.on(signal, () =>
      endWith(async ({ logger }) =>
        logger.info(`${signal}: stopping; instances go on running for the next start`),
      ),
    );
  process.on('SIGINT', () => {
    const now = performance.now();
    if (interruptedAt !== undefined) {
      if (now - interruptedAt < SAME_PRESS_MS) return;
      process.stderr.write('drover: stopping at once; instances that still run are left running\n');
      process.exit(130);
    }
    interruptedAt = now;
    endWith(stopInstances);
  });
  process.on('uncaughtException', (error) => {
    if (faults.takes(error)) return;
    const message = 'a bug in Drover: the daemon ends; instances go on running for the next start';
    starting.then(({ logger }) => logger.error({ err: error }, message), ignore);
    process.stderr.write(`drover: ${error.stack ?? error.message}\n`);
    setImmediate(() => process.exit(70));
  });
  return {
    get isEnding() {
      return isEnding;
    },
  };
}

async function stopInstances(daemon: StartedNode): Promise<void> {
  daemon.logger.info('SIGINT: stopping the instances, then the node');
  await daemon.stopInstances(showAlive, new AbortController().signal);
  process.stdout.write('All instances have stopped.\n');
}

function showAlive(alive: readonly string[]): void {
  if (alive.length === 0) return;
  const shown = alive.slice(0, SHOWN_AT_MOST).join(', ') + (alive.length > SHOWN_AT_MOST ? ' ...' : '');
  const count = alive.length === 1 ? '1 instance' : `${alive.length} instances`;
  process.stdout.write(`Stopping ${count}: ${shown} (Ctrl-C again leaves them running)\n`);
}

/** Does `how`, then lets go of everything and ends the process. */
async function endBy(daemon: StartedNode, how: (daemon: StartedNode) => Promise<void>): Promise<void> {
  try {
    await how(daemon);
  } catch (error) {
    process.stderr.write(`drover: ${messageOf(error)}\n`);
  }
  try {
    await daemon.stop();
    process.exit(0);
  } catch (error) {
    process.stderr.write(`drover: the node did not stop cleanly: ${messageOf(error)}\n`);
    process.exit(1);
  }
}

function ignore(): void {}
