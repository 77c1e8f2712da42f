/** A running command of the built client as a child process, without HOME. Needs `npm run build`. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { CLIENT } from './client-program.js';

export interface ClientProcessOptions {
  readonly directory: string;
  /** Variables beside PATH. */
  readonly environment?: object;
  /** False: the test does not read the output until it calls `read`. */
  readonly isRead?: boolean;
}

export class ClientProcess {
  readonly child: ChildProcess;
  readonly ended: Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null }>;
  out = '';
  err = '';

  constructor(
    words: readonly string[],
    { directory, environment = {}, isRead = true }: ClientProcessOptions,
  ) {
    this.child = spawn(process.execPath, [CLIENT, ...words], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { PATH: process.env.PATH, ...environment },
      cwd: directory,
    });
    if (isRead) this.read();
    this.child.stderr?.setEncoding('utf8').on('data', (more: string) => {
      this.err += more;
    });
    this.ended = once(this.child, 'close').then(() => ({
      code: this.child.exitCode,
      signal: this.child.signalCode,
    }));
  }

  read(): void {
    this.child.stdout?.setEncoding('utf8').on('data', (more: string) => {
      this.out += more;
    });
  }

  get lines(): string[] {
    return this.out.split('\n').slice(0, -1);
  }
}
