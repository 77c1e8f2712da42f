#!/usr/bin/env node
/** The executable: reads the command line, starts a node, and turns signals into an orderly end. */
import { readFileSync } from 'node:fs';
import { Command } from 'commander';
import type { Daemon } from './daemon.js';
import { DroverError, messageOf } from './model/errors.js';
import { startDaemon } from './start-daemon.js';
import { printWelcome } from './welcome.js';

/** How long the start waits for the declared instances before it says what is running. */
const STANDING_WAIT_MS = 5000;
/** npm passes Ctrl-C on to a process that got it from the terminal already: one press is one. */
const SAME_PRESS_MS = 500;

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
    const daemon = await startDaemon({ root, version, terminal: true });
    handleSignals(daemon);
    await daemon.untilStanding(STANDING_WAIT_MS);
    printWelcome(daemon, (text) => process.stdout.write(text));
  });

program.parseAsync().catch((error: unknown) => {
  process.stderr.write(`drover: ${error instanceof DroverError ? error.message : (error as Error).stack}\n`);
  process.exit(1);
});

function handleSignals(daemon: Daemon): void {
  const { logger } = daemon;
  const giveUp = new AbortController();
  let interruptedAt: number | undefined;
  const end = (): void => {
    daemon.stop().then(
      () => process.exit(0),
      (error: unknown) => {
        process.stderr.write(`drover: the node did not stop cleanly: ${messageOf(error)}\n`);
        process.exit(1);
      },
    );
  };
  process.on('SIGTERM', () => {
    logger.info('SIGTERM: stopping; instances go on running for the next start');
    end();
  });
  process.on('SIGINT', () => {
    const now = performance.now();
    if (interruptedAt !== undefined) {
      if (now - interruptedAt < SAME_PRESS_MS) return;
      process.stderr.write('drover: stopping at once; instances that still run are left running\n');
      process.exit(130);
    }
    interruptedAt = now;
    const progress = (alive: readonly string[]): void => {
      if (alive.length > 0)
        process.stdout.write(
          `Stopping ${alive.length} ${alive.length === 1 ? 'instance' : 'instances'}: ${alive.slice(0, 10).join(', ')}${alive.length > 10 ? ' ...' : ''} (Ctrl-C again leaves them running)\n`,
        );
    };
    daemon
      .stopInstances(progress, giveUp.signal)
      .then(() => process.stdout.write('All instances have stopped.\n'))
      .then(end)
      .catch((error: unknown) => {
        process.stderr.write(`drover: ${messageOf(error)}\n`);
        end();
      });
  });
  process.on('uncaughtException', (error) => {
    logger.error(
      { err: error },
      'a bug in Drover: the daemon ends; instances go on running for the next start',
    );
    process.stderr.write(`drover: ${error.stack ?? error.message}\n`);
    process.exit(70);
  });
}
