/** Runs the executable as a child process, and keeps its output and its end. Needs `npm run build`. */

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { REPOSITORY } from '../repository-root.js';

const PROGRAM = join(REPOSITORY, 'dist/main.js');
/**
 * The environment of the daemon. It is not the test runner's, whose NODE_OPTIONS and other variables would reach the
 * daemon.
 */
const ENVIRONMENT = {
  PATH: process.env.PATH,
  HOME: process.env.HOME,
  USER: process.env.USER,
  LANG: 'C.UTF-8',
  /** Credentials for an extension, as an operator gives them. */
  TEST_SECRET: 'for Drover alone',
};

export interface Ending {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface DaemonProcessOptions {
  readonly root: string;
  /** The program and parameters that become the daemon in the same process, such as `ip netns exec host`. */
  readonly prefix?: readonly string[];
  /** An ES module that runs in the daemon before Drover's own code. */
  readonly preload?: string;
  /** Further parameters of `start`. */
  readonly parameters?: readonly string[];
  /** The path of the executable. Default: the executable that `npm run build` made. */
  readonly program?: string;
}

export class DaemonProcess {
  readonly pid: number;
  /** Resolves when the process has ended and all its output is here. */
  readonly ended: Promise<Ending>;
  readonly #child: ChildProcess;
  #stdout = '';
  #stderr = '';

  constructor({
    root,
    prefix = [],
    preload,
    program: executable = PROGRAM,
    parameters: further = [],
  }: DaemonProcessOptions) {
    const [program = process.execPath, ...parameters] = [
      ...prefix,
      process.execPath,
      ...(preload === undefined ? [] : ['--import', preload]),
      executable,
      'start',
      '--root',
      root,
      ...further,
    ];
    const child = spawn(program, parameters, {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: ENVIRONMENT,
    });
    if (child.pid === undefined) throw new Error('the daemon could not be spawned');
    this.pid = child.pid;
    this.#child = child;
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      this.#stdout += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.#stderr += text;
    });
    this.ended = once(child, 'close').then(() => ({ code: child.exitCode, signal: child.signalCode }));
  }

  get stdout(): string {
    return this.#stdout;
  }

  get stderr(): string {
    return this.#stderr;
  }

  get isRunning(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  /** Sends the signal and waits for the end. */
  async end(signal: NodeJS.Signals): Promise<Ending> {
    this.signal(signal);
    return await this.ended;
  }
}
