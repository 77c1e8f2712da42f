/** Starts an owner as a detached process, and waits until one serves: this one, or another that was faster. */
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, constants, fstatSync, ftruncateSync, openSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock, TimerHandle } from '../../loop/clock.js';
import { DroverError } from '../../model/errors.js';
import { publicMessage } from '../../model/public-message.js';

const START_TIMEOUT_MS = 30_000;
const LONGEST_LOG_BYTES = 64 * 1024;
/** An owner serves for weeks and makes little garbage: a small young generation keeps its memory small. */
const NODE_FLAGS = ['--max-semi-space-size=1', '--v8-pool-size=1'];

/** Names one kind of owner of a root. */
export interface OwnerKind {
  /** Part of the names of its socket, lock and log: `owner`, `screen`, `tmux`. */
  readonly name: string;
  /** Its name in messages: `the owner process`, `the owner of screen sessions`. */
  readonly title: string;
  /** The built program, and its parameters beside --root, --socket and --lock. */
  readonly program: string;
  readonly parameters: readonly string[];
  /** How long a start may take, including the starts that it has to wait for. */
  readonly startTimeoutMs: number;
}

export interface LaunchOptions {
  readonly rootId: string;
  readonly kind: OwnerKind;
  readonly socketPath: string;
  readonly socketDirectory: string;
  /** Two owners of one root share it, whatever the socket's path. Other users must not be able to guess it. */
  readonly lockKey: string;
  readonly clock: Clock;
}

/** The lock that an owner of this kind holds for life. */
export function ownerLockName({ kind, lockKey }: LaunchOptions): string {
  return `drover-${kind.name}-${lockKey}`;
}

/** Starts an owner, also when one may run already. Throws DRV_RUNTIME_UNAVAILABLE with the owner's reason. */
export async function launchOwner(options: LaunchOptions): Promise<void> {
  const log = openLog(join(options.socketDirectory, `${options.kind.name}.log`));
  let child: ChildProcess;
  try {
    child = spawnOwner(options, log);
  } finally {
    closeSync(log);
  }
  try {
    await firstLine(child, options);
  } finally {
    child.stdout?.destroy();
    child.unref();
  }
}

function spawnOwner(options: LaunchOptions, log: number): ChildProcess {
  const { kind, rootId, socketPath } = options;
  const seat = ['--root', rootId, '--socket', socketPath, '--lock', ownerLockName(options)];
  return spawn(process.execPath, [...NODE_FLAGS, kind.program, ...seat, ...kind.parameters], {
    detached: true,
    cwd: '/',
    // Nothing of the daemon's environment: NODE_OPTIONS alone could change what runs.
    env: {},
    stdio: ['ignore', 'pipe', log],
  });
}

function openLog(path: string): number {
  const { O_WRONLY, O_CREAT, O_APPEND, O_NOFOLLOW } = constants;
  const fd = openSync(path, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW, 0o600);
  if (fstatSync(fd).size > LONGEST_LOG_BYTES) ftruncateSync(fd);
  return fd;
}

async function firstLine(child: ChildProcess, { clock, kind }: LaunchOptions): Promise<void> {
  let timeout: TimerHandle | undefined;
  const answer = new Promise<void>((resolve, reject) => {
    const fail = (why: string): void =>
      reject(new DroverError('DRV_RUNTIME_UNAVAILABLE', `${kind.title} did not start: ${why}`));
    timeout = clock.setTimer(START_TIMEOUT_MS, () => fail(`silent for ${START_TIMEOUT_MS / 1000} s`));
    let said = '';
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      said += text;
      if (/^(ready|taken)\n/.test(said)) resolve();
    });
    child.once('error', (error) => fail(publicMessage(error)));
    child.once('close', (code, signal) =>
      fail(said.replace(/^failed /, '').trim() || (signal ?? `exit code ${code}; see ${kind.name}.log`)),
    );
  });
  await answer.finally(() => timeout?.cancel());
}
