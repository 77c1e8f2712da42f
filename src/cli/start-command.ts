/** `drover start`: starts a node in a directory, prints its first lines, and opens the prompt. */
import { hideEnvironment } from '../daemon/hide-environment.js';
import { MemberNode } from '../daemon/member-node.js';
import { ExtensionFaults } from '../extensions/extension-faults.js';
import type { DroverError } from '../model/errors.js';
import { describeInterrupt, handleSignals } from './signals.js';
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
  const prompt = canPrompt(process.env.TERM)
    ? new TerminalPrompt({ input: process.stdin, output })
    : undefined;
  const faults = new ExtensionFaults();
  const stop = (): void => void process.kill(process.pid, 'SIGTERM');
  const fenced = ({ message }: DroverError): void => {
    prompt?.stop();
    process.stderr.write(`drover: ${message}; instances go on under the other one\n`);
    process.exit(1);
  };
  // Loaded only here: `--help` and `--version` do not wait for it, and signals are handled while it loads.
  const starting = import('../daemon/start-daemon.js').then(({ startDaemon }) =>
    startDaemon({
      root,
      version,
      terminal: prompt ?? true,
      stop,
      fail: (line) => signals.fail(line),
      fenced,
      acceptOlder,
      faults,
    }),
  );
  const signals = handleSignals(starting, faults, () => prompt?.stop());
  const daemon = await starting;
  if (visible !== null)
    daemon.logger.warn(
      `the environment of Drover stays readable for processes of the same user (${visible}): keep secrets out of it`,
    );
  await daemon.untilStanding(STANDING_WAIT_MS);
  if (signals.isEnding) return;
  const options = { hasPrompt: prompt !== undefined };
  const lines = daemon instanceof MemberNode ? daemon.describe(options) : describeWelcome(daemon, options);
  output.write(`${lines.join('\n')}\n`);
  prompt?.start({
    commands: daemon.commands,
    describeInterrupt: () => describeInterrupt(daemon.aliveInstances()),
  });
}
