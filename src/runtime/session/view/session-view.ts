/**
 * One view of a session: a client of its tool on a terminal of the owner's own. The view is only shown; nothing is ever
 * written to that terminal. It knows nothing of runs.
 */
import { ReadStream } from 'node:tty';
import type { TerminalSize } from '../../../model/run/attachment.js';
import { loadNativePty, type NativePty } from '../../process/native-pty.js';
import type { ViewCall } from '../session-tool.js';
import { TerminalQuestions } from './terminal-questions.js';

/** The environment of every tool's client: a terminal type that all know, and UTF-8. */
export const VIEW_ENVIRONMENT = { TERM: 'xterm-256color', LC_ALL: 'C.UTF-8' } as const;
const KILL_AFTER_MS = 2000;

export interface SessionViewOptions {
  readonly call: ViewCall;
  readonly size: TerminalSize;
  readonly onOutput: (bytes: Uint8Array) => void;
  /** Called at most once, when the client has ended by itself; never after `close`. */
  readonly onEnd: () => void;
}

export class SessionView {
  readonly #options: SessionViewOptions;
  /** node-pty, loaded with the first view, because most owners never show anything. */
  readonly #native: NativePty = loadNativePty();
  readonly #questions = new TerminalQuestions();
  readonly #pid: number;
  readonly #master: number;
  readonly #stream: ReadStream;
  #timer: NodeJS.Timeout | undefined;
  #hasExited = false;
  #isClosed = false;

  /** Starts the client. Throws the system's refusal. */
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
    // EIO: the terminal was hung up. The client's exit follows.
    this.#stream.on('error', () => this.#stream.destroy());
  }

  resize({ columns, rows }: TerminalSize): void {
    if (this.#isClosed || this.#stream.destroyed) return;
    try {
      this.#native.resize(this.#master, columns, rows);
    } catch {
      // The terminal was hung up meanwhile.
    }
  }

  /** Idempotent. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    if (!this.#hasExited) {
      // Send SIGHUP as well: another child of ours may have inherited the terminal and keep it open.
      this.#signal('SIGHUP');
      this.#timer = setTimeout(() => this.#signal('SIGKILL'), KILL_AFTER_MS);
    }
    this.#stream.destroy();
  }

  #signal(signal: NodeJS.Signals): void {
    try {
      process.kill(this.#pid, signal);
    } catch {
      // The client has ended, and its exit is on its way.
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
