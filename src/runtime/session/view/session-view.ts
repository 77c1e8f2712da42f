/**
 * One view of a session: a client of its tool on a terminal of the owner's own. The view is only shown; nothing is ever
 * written to that terminal. It knows nothing of runs.
 */
import { ReadStream } from 'node:tty';
import { attempt } from '../../../model/plain/attempt.js';
import type { TerminalSize } from '../../../model/run/attachment.js';
import type { Viewer } from '../../owner/held-run.js';
import { loadNativePty, type NativePty } from '../../process/native-pty.js';
import type { ProgramCall } from '../session-tool.js';

/** The environment of every tool's client: a terminal type that all know, and UTF-8. */
export const VIEW_ENVIRONMENT = { TERM: 'xterm-256color', LC_ALL: 'C.UTF-8' } as const;
const KILL_AFTER_MS = 2000;

export class SessionView {
  readonly #viewer: Viewer;
  /** node-pty, loaded with the first view, because most owners never show anything. */
  readonly #native: NativePty = loadNativePty();
  readonly #withoutQuestions = questionFilter();
  readonly #pid: number;
  readonly #master: number;
  readonly #stream: ReadStream;
  #timer: NodeJS.Timeout | undefined;
  #hasExited = false;
  #isClosed = false;

  /** Starts the client. Its end is not told after `close`. Throws the system's refusal. */
  constructor(call: ProgramCall, viewer: Viewer) {
    this.#viewer = viewer;
    const { pid, fd } = this.#native.fork({
      file: call.file,
      parameters: call.parameters,
      environment: Object.entries(call.environment).map(([name, value]) => `${name}=${value}`),
      workingDirectory: '/',
      ...viewer.size,
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
    // The terminal may be hung up meanwhile.
    attempt(() => this.#native.resize(this.#master, columns, rows));
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
    // The client may have ended: then its exit is on its way.
    attempt(() => process.kill(this.#pid, signal));
  }

  #show(bytes: Buffer): void {
    const shown = this.#withoutQuestions(bytes);
    if (!this.#isClosed && shown.length > 0) this.#viewer.onOutput(shown);
  }

  #onExit(): void {
    this.#hasExited = true;
    clearTimeout(this.#timer);
    if (!this.#isClosed) this.#viewer.onEnd();
  }
}

/**
 * Sequences that ask the terminal for attributes, version, cursor position, modes or colours. Also the switch for
 * bracketed paste, which only a program that asked for it understands.
 */
const QUESTION =
  /\x1b\[[>=?]?[\d;]*[cn]|\x1b\[>[\d;]*q|\x1b\[\??[\d;]*\$p|\x1b\](?:1[0-9]|4;\d+);\?(?:\x07|\x1b\\)|\x1b\[\?2004[hl]/g;
/** The possible beginning of a question at the end of some output. */
const BEGINNING = /\x1b(?:\[[>=?]?[\d;]{0,16}\$?|\](?:[\d;]{0,8}\??\x1b?))?$/;

/**
 * Removes questions and mode changes from the output that a session's tool draws on a viewer's terminal. The terminal at
 * the far end would answer them as if somebody typed, and its answers would reach the program. A possible beginning of a
 * question waits for the next output.
 */
function questionFilter(): (bytes: Buffer) => Buffer {
  let rest = '';
  return (bytes) => {
    // latin1 gives one character per byte, so that UTF-8 text passes unchanged.
    const text = (rest + bytes.toString('latin1')).replace(QUESTION, '');
    const at = text.search(BEGINNING);
    rest = at < 0 ? '' : text.slice(at);
    return Buffer.from(at < 0 ? text : text.slice(0, at), 'latin1');
  };
}
