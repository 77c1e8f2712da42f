/**
 * `/console`: runs lines of the command tree over a WebSocket. Consoles do not wait for each other. A console waits for
 * a client that reads slowly, and refuses lines while too many wait.
 */

import { Pace } from '../../loop/pace.js';
import { countText } from '../../model/words.js';
import type { ApiDependencies } from '../dependencies.js';
import { type ApiSocket, CLOSE, type SocketSpec } from './socket.js';

const MAX_WAITING = 100;
/** Closes a client that sends without reading, so that the refusals do not fill the memory. */
const MAX_UNREAD_BYTES = 1024 * 1024;
const ENDINGS: ReadonlySet<string> = new Set(['exit', 'quit']);

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
      const waiting: string[] = [];
      let isRunning = false;
      const runAll = async (): Promise<void> => {
        isRunning = true;
        const pace = new Pace();
        for (let line = waiting.shift(); line !== undefined; line = waiting.shift()) {
          if (ENDINGS.has(line)) socket.close(CLOSE.normal, 'bye');
          if (socket.signal.aborted) return;
          await run(commands, socket, line);
          await socket.whenDrained();
          if (pace.isOver) await pace.rest();
        }
        isRunning = false;
      };
      socket.onText((frame) => {
        const typed = frame.split('\n').flatMap((line) => line.trim() || []);
        const accepted = typed.slice(0, MAX_WAITING - waiting.length);
        waiting.push(...accepted);
        if (accepted.length < typed.length) refuse(socket, typed.length - accepted.length);
        if (!isRunning) void runAll();
      });
    },
  };
}

function refuse(socket: ApiSocket, count: number): void {
  if (socket.bufferedBytes > MAX_UNREAD_BYTES)
    socket.close(CLOSE.refused, 'sends commands and does not read the answers');
  else socket.sendText(`error: ${countText(count, 'command')} refused: ${MAX_WAITING} are waiting already`);
}

/** Runs a line. Never rejects: the runner does not throw, and a closed socket ignores text. */
async function run(commands: ApiDependencies['commands'], socket: ApiSocket, line: string): Promise<void> {
  const { access, address, signal } = socket;
  let isSilent = true;
  await commands.run(line, {
    access,
    address,
    signal,
    write: (text) => {
      isSilent = false;
      socket.sendText(text.endsWith('\n') ? text.slice(0, -1) : text);
    },
  });
  if (isSilent) socket.sendText('');
}
