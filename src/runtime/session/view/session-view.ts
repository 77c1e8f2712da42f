/**
 * One view of a session: a client of its tool on a terminal of the owner's own. It is only looked at, so nothing is ever
 * written to that terminal. Knows nothing of runs.
 */
import { ReadStream } from 'node:tty';
import type { TerminalSize } from '../../../model/run/attachment.js';
import { loadNativePty, type NativePty } from '../../process/native-pty.js';
import type { ViewCall } from '../session-tool.js';
import { TerminalQuestions } from './terminal-questions.js';

/** What every tool's client needs: a terminal that all know, and UTF-8. */
export const VIEW_ENVIRONMENT = { TERM: 'xterm-256color', LC_ALL: 'C.UTF-8' } as const;
const KILL_AFTER_MS = 2000;

export interface SessionViewOptions {
  readonly call: ViewCall;
  readonly size: TerminalSize;
  readonly onOutput: (bytes: Uint8Array) => void;
  /** The client has ended by itself. Called at most once, never after `close`. */
  readonly onEnd: () => void;
}

export class SessionView {
  readonly #options: SessionViewOptions;
  /** Loaded with the first view: most owners never show anything. */
  readonly #native: NativePty = loadNativePty();
  readonly #questions = new TerminalQuestions();
  readonly #pid: number;
  readonly #master: number;
  readonly #stream: ReadStream;
  #timer: NodeJS.Timeout | undefined;
  #hasExited = false;
  #isClosed = false;

  /** Throws what the system refused. */
  constructor(options: SessionViewOptions) {
    this.#options = options;
    const { call, size } = options;
    const { pid, fd } = this.#native.fork({
      file: call.file,
      parameters: call.parameters,
      environment: Object.entries(call.environment).map(([name, value]) => `${name}=${value}`),
      workingDirectory: '/',
      ...size,
      onExit: () => this.#onExit(),
    });
    this.#pid = pid;
    this.#master = fd;
    this.#stream = new ReadStream(fd);
    this.#stream.on('data', (bytes: Buffer) => this.#show(bytes));
    // EIO: hung up. The exit tells the rest.
    this.#stream.on('error', () => this.#stream.destroy());
  }

  resize({ columns, rows }: TerminalSize): void {
    if (this.#isClosed || this.#stream.destroyed) return;
    try {
      this.#native.resize(this.#master, columns, rows);
    } catch {
      // Hung up meanwhile.
    }
  }

  /** Idempotent. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    if (!this.#hasExited) {
      // Told, not only hung up: another child of ours may have inherited the terminal.
      this.#signal('SIGHUP');
      this.#timer = setTimeout(() => this.#signal('SIGKILL'), KILL_AFTER_MS);
    }
    this.#stream.destroy();
  }

  #signal(signal: NodeJS.Signals): void {
    try {
      process.kill(this.#pid, signal);
    } catch {
      // It has ended, and its exit is on the way.
    }
  }

  #show(bytes: Buffer): void {
    const shown = this.#questions.take(bytes);
    if (!this.#isClosed && shown.length > 0) this.#options.onOutput(shown);
  }

  #onExit(): void {
    this.#hasExited = true;
    clearTimeout(this.#timer);
    if (!this.#isClosed) this.#options.onEnd();
  }
}
