/** Starts an owner as a detached process, and waits until an owner serves: the new one, or another that was faster. */
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, constants, fstatSync, ftruncateSync, openSync } from 'node:fs';
import { join } from 'node:path';
import type { TimerHandle } from '../../loop/clock.js';
import { publicMessage } from '../../model/public-message.js';
import { unavailable } from '../failures.js';
import type { KeptRuntimeOptions } from './kept-runtime.js';

const START_TIMEOUT_MS = 30_000;
const LONGEST_LOG_BYTES = 64 * 1024;
/** Flags that keep the owner's memory small: an owner serves for weeks and makes little garbage. */
const NODE_FLAGS = ['--max-semi-space-size=1', '--v8-pool-size=1'];

/** One kind of owner of a root: its names, and the program to start. */
export interface OwnerKind {
  /** Part of the names of the owner's socket, lock and log: `owner`, `screen`, `tmux`. */
  readonly name: string;
  /** The owner's name in messages: `the owner process`, `the owner of screen sessions`. */
  readonly title: string;
  /** The built program. `parameters`: its parameters after --root, --socket and --lock. */
  readonly program: string;
  readonly parameters: readonly string[];
  /** How long a start may take, including earlier starts that it waits for. */
  readonly startTimeoutMs: number;
}

export interface LaunchOptions
  extends Pick<KeptRuntimeOptions, 'rootId' | 'socketDirectory' | 'lockKey' | 'clock'> {
  readonly kind: OwnerKind;
  readonly socketPath: string;
}

/** The name of the lock that an owner of this kind holds for life. */
export function ownerLockName({ kind, lockKey }: LaunchOptions): string {
  return `drover-${kind.name}-${lockKey}`;
}

/** Starts an owner. Harmless when an owner runs already. Throws DRV_RUNTIME_UNAVAILABLE with the owner's reason. */
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
    // The owner gets no variables of the daemon: NODE_OPTIONS alone could change what runs.
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
    const fail = (why: string): void => reject(unavailable(`${kind.title} did not start: ${why}`));
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
