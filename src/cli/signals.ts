/** Turns signals and uncaught errors into an orderly end of a node. */
import type { StartedNode } from '../daemon/start-daemon.js';
import type { ExtensionFaults } from '../extensions/extension-faults.js';
import { messageOf } from '../model/errors.js';
import { countText } from '../model/words.js';
import { SourceStacks } from '../telemetry/source-stack.js';

/**
 * npm passes Ctrl-C on to a process that already got it from the terminal. Two signals within this time are one
 * press.
 */
const SAME_PRESS_MS = 500;
/**
 * True in a container without an init program: the kernel ends everything with process 1, so every end of Drover stops
 * the instances first.
 */
export const isProcessOne = process.pid === 1;
/** The most instances named in one line of progress. */
const SHOWN_AT_MOST = 10;

/**
 * Handles the signals of this process. SIGTERM leaves the instances running, unless Drover is process 1. A signal during the start takes effect after the start. `onEnding` is called
 * at each signal that ends the node, and may end a start that waits. The returned `fail` ends the node as SIGTERM
 * does, but prints its line on standard error and uses exit code 1.
 */
export function handleSignals(
  starting: Promise<StartedNode>,
  faults: ExtensionFaults,
  onEnding: () => void,
): { readonly isEnding: boolean; readonly fail: (line: string) => void } {
  let interruptedAt: number | undefined;
  let isEnding = false;
  const endWith = (how: (daemon: StartedNode) => Promise<void>, exitCode = 0): void => {
    isEnding = true;
    onEnding();
    // Ignore a failed start here: the caller of `starting` prints its error.
    starting.then((daemon) => endBy(daemon, how, exitCode), ignore);
  };
  // SIGHUP only says that the terminal went away: the instances keep running.
  for (const signal of ['SIGTERM', 'SIGHUP'] as const)
    process.on(signal, () =>
      endWith(async (daemon) => {
        if (isProcessOne) await stopInstances(daemon, signal);
        else daemon.logger.info(`${signal}: stopping; instances go on running for the next start`);
      }),
    );
  process.on('SIGINT', () => {
    const now = performance.now();
    if (interruptedAt !== undefined) {
      if (now - interruptedAt < SAME_PRESS_MS) return;
      process.stderr.write('drover: stopping at once; instances that still run are left running\n');
      process.exit(130);
    }
    interruptedAt = now;
    endWith((daemon) => stopInstances(daemon, 'SIGINT'));
  });
  process.on('uncaughtException', (error) => {
    if (faults.takes(error)) return;
    const message = 'a bug in Drover: the daemon ends; instances go on running for the next start';
    starting.then(({ logger }) => logger.error({ err: error }, message), ignore);
    process.stderr.write(`drover: ${new SourceStacks().translate(error.stack ?? error.message)}\n`);
    setImmediate(() => process.exit(70));
  });
  return {
    get isEnding() {
      return isEnding;
    },
    fail: (line) => {
      if (isEnding) return;
      endWith(async () => {
        process.stderr.write(`drover: ${line}\n`);
      }, 1);
    },
  };
}

async function stopInstances(daemon: StartedNode, signal: string): Promise<void> {
  daemon.logger.info(`${signal}: stopping the instances, then the node`);
  await daemon.stopInstances(showAlive, new AbortController().signal);
  process.stdout.write('All instances have stopped.\n');
}

/** Describes the effect of SIGINT while the instances `alive` run, for the sentence `Ctrl-C again within 5 s ...`. */
export function describeInterrupt(alive: readonly string[]): string {
  if (alive.length === 0) return 'stops Drover; no instance runs here';
  const them = alive.length === 1 ? 'it' : 'them';
  const stops = `stops ${countText(alive.length, 'instance')} (${shortList(alive)}), then Drover`;
  return isProcessOne ? stops : `${stops}; the command "stop" leaves ${them} running`;
}

function showAlive(alive: readonly string[]): void {
  if (alive.length === 0) return;
  process.stdout.write(
    `Stopping ${countText(alive.length, 'instance')}: ${shortList(alive)} (Ctrl-C again leaves them running)\n`,
  );
}

function shortList(ids: readonly string[]): string {
  return ids.slice(0, SHOWN_AT_MOST).join(', ') + (ids.length > SHOWN_AT_MOST ? ' ...' : '');
}

/** Runs `how`, then stops the node and ends the process. */
async function endBy(
  daemon: StartedNode,
  how: (daemon: StartedNode) => Promise<void>,
  exitCode: number,
): Promise<void> {
  try {
    await how(daemon);
  } catch (error) {
    process.stderr.write(`drover: ${messageOf(error)}\n`);
  }
  try {
    await daemon.stop();
    process.exit(exitCode);
  } catch (error) {
    process.stderr.write(`drover: the node did not stop cleanly: ${messageOf(error)}\n`);
    process.exit(1);
  }
}

function ignore(): void {}
