/**
 * `/console`: runs lines of the command tree over a WebSocket. Consoles do not wait for each other. A console waits for
 * a client that reads slowly, and refuses lines while too many wait.
 */

import { countText } from '../../model/words.js';
import type { ApiDependencies } from '../dependencies.js';
import type { ApiSocket, SocketSpec } from './socket.js';

const MAX_WAITING = 100;
/** Closes a client that sends without reading, so that the refusals do not fill the memory. */
const MAX_UNREAD_BYTES = 1024 * 1024;
const ENDINGS: ReadonlySet<string> = new Set(['exit', 'quit']);
const NORMAL = 1000;
const POLICY = 1008;

export function consoleSocket({ commands }: ApiDependencies): SocketSpec<unknown, unknown> {
  return {
    path: '/console',
    scope: 'ALL',
    summary: 'An interactive console: the commands of `POST /commands/execute`.',
    frames:
      'Client: each line of a text frame is one command; they run one after the other, blank lines are ignored, ' +
      '`exit` or `quit` closes with 1000. Server: what a command prints comes as it is printed, whole lines without ' +
      'the last newline; a command that prints nothing is answered by one empty frame. While ' +
      `${MAX_WAITING} commands wait, further ones are refused in one line.`,
    open: () => (socket) => {
      const session = new ConsoleSession(commands, socket);
      socket.onText((text) => session.take(text));
    },
  };
}

class ConsoleSession {
  readonly #commands: ApiDependencies['commands'];
  readonly #socket: ApiSocket;
  readonly #waiting: string[] = [];
  #isRunning = false;

  constructor(commands: ApiDependencies['commands'], socket: ApiSocket) {
    this.#commands = commands;
    this.#socket = socket;
  }

  take(frame: string): void {
    const lines = frame.split('\n').map((line) => line.trim());
    const typed = lines.filter((line) => line !== '');
    const accepted = typed.slice(0, MAX_WAITING - this.#waiting.length);
    this.#waiting.push(...accepted);
    if (accepted.length < typed.length) this.#refuse(typed.length - accepted.length);
    if (!this.#isRunning) void this.#runAll();
  }

  #refuse(count: number): void {
    if (this.#socket.bufferedBytes > MAX_UNREAD_BYTES) {
      this.#socket.close(POLICY, 'sends commands and does not read the answers');
      return;
    }
    this.#socket.sendText(
      `error: ${countText(count, 'command')} refused: ${MAX_WAITING} are waiting already`,
    );
  }

  /**
   * Runs the waiting lines one after the other. Never rejects: the runner does not throw, and a closed socket ignores
   * text.
   */
  async #runAll(): Promise<void> {
    this.#isRunning = true;
    for (let line = this.#next(); line !== undefined; line = this.#next()) {
      if (ENDINGS.has(line)) {
        this.#socket.close(NORMAL, 'bye');
        return;
      }
      await this.#run(line);
      await this.#socket.whenDrained();
    }
    this.#isRunning = false;
  }

  #next(): string | undefined {
    return this.#socket.signal.aborted ? undefined : this.#waiting.shift();
  }

  async #run(line: string): Promise<void> {
    const { access, address, signal } = this.#socket;
    let isSilent = true;
    await this.#commands.run(line, {
      access,
      address,
      signal,
      write: (text) => {
        isSilent = false;
        this.#socket.sendText(text.endsWith('\n') ? text.slice(0, -1) : text);
      },
    });
    if (isSilent) this.#socket.sendText('');
  }
}
