/** `drover start`: starts a node in a directory, prints its first lines, and opens the prompt. */
import { hideEnvironment } from '../daemon/hide-environment.js';
import { MemberNode } from '../daemon/member-node.js';
import { ExtensionFaults } from '../extensions/extension-faults.js';
import { DroverError } from '../model/errors.js';
import { dashboardLines } from './dashboard-lines.js';
import { describeInterrupt, handleSignals, isProcessOne } from './signals.js';
import { canPrompt, TerminalPrompt } from './terminal-prompt.js';
import { describeWelcome } from './welcome.js';

/** How long the start waits for the declared instances before it prints what runs. */
const STANDING_WAIT_MS = 5000;

export interface StartOptions {
  readonly root: string;
  readonly version: string;
  readonly acceptOlder: boolean;
}

/** Returns when the node is up; signals end it. Throws DroverErrors with one clear line. */
export async function start({ root, version, acceptOlder }: StartOptions): Promise<void> {
  const visible = hideEnvironment();
  const { stdout: output } = process;
  const prompt = canPrompt(process.env.TERM) ? new TerminalPrompt(process.stdin, output) : undefined;
  const faults = new ExtensionFaults();
  const stop = (): void => void process.kill(process.pid, 'SIGTERM');
  const fenced = ({ message }: DroverError): void => {
    prompt?.stop();
    process.stderr.write(`drover: ${message}; instances go on under the other one\n`);
    process.exit(1);
  };
  const ending = new AbortController();
  // Load the daemon only here: `--help` and `--version` do not wait for it, and signals are handled meanwhile.
  const starting = import('../daemon/start-daemon.js').then(({ startDaemon }) =>
    startDaemon({
      root,
      version,
      terminal: prompt ?? true,
      stop,
      fail: (line) => signals.fail(line),
      fenced,
      ending: ending.signal,
      acceptOlder,
      faults,
    }),
  );
  const signals = handleSignals(starting, faults, () => {
    prompt?.stop();
    ending.abort();
  });
  const daemon = await starting.catch((error: unknown) => {
    if (!signals.isEnding || !DroverError.is(error, 'DRV_STORE_CLOSED')) throw error;
    process.stderr.write(`drover: ${error.message}\n`);
    process.exit(0);
  });
  if (isProcessOne)
    daemon.logger.warn(
      'Drover is process 1 of this container, and cannot wait for processes that others left: they stay as zombies. Run it with an init program: docker run --init, init: true of Compose, or tini',
    );
  if (visible !== null)
    daemon.logger.warn(
      `the environment of Drover stays readable for processes of the same user (${visible}): keep secrets out of it`,
    );
  await daemon.untilStanding(STANDING_WAIT_MS);
  if (signals.isEnding) return;
  const hasPrompt = prompt !== undefined;
  const lines =
    daemon instanceof MemberNode
      ? daemon.describe({ hasPrompt })
      : describeWelcome(daemon, hasPrompt, await dashboardLines(daemon, output.isTTY === true, version));
  output.write(`${lines.join('\n')}\n`);
  prompt?.start({
    commands: daemon.commands,
    describeInterrupt: () => describeInterrupt(daemon.aliveInstances()),
  });
}
