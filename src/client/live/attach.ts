/** `drover attach`: the terminal of an instance in this terminal, over one WebSocket. */
import type { RawData, WebSocket } from 'ws';
import { pathPart } from '../../command-tree/runs/api-calls.js';
import { ClientError, EXIT, failedError } from '../../command-tree/runs/client-error.js';
import { attempt } from '../../model/plain/attempt.js';
import { toPlainText } from '../../telemetry/plain-text.js';
import type { ApiConnection } from '../connection/connection.js';
import { unreachable } from '../connection/failures.js';
import { DetachKeys } from './detach-keys.js';
import type { RawTerminal } from './raw-terminal.js';
import { TerminalModes } from './terminal-modes.js';

/** The largest frame that the master accepts. */
const MOST_BYTES = 64 * 1024;
/** Above this number of unsent bytes, reading from the keyboard pauses. */
const MOST_WAITING = 256 * 1024;
const MOST_LENGTH = 1000;
const CLOSE_MS = 1000;
const CR = 0x0d;
const LF = 0x0a;

interface Ended {
  readonly reason: string;
  readonly message: string;
}

/**
 * Resolves with a line that says how the session ended. The terminal is always restored. Throws a ClientError when the
 * instance cannot be attached, or the connection is lost.
 */
export async function attach(connection: ApiConnection, id: string, terminal: RawTerminal): Promise<string> {
  const { columns, rows } = sizeOf(terminal);
  const socket = await connection.openSocket(
    `/instances/${pathPart(id)}/attach?columns=${columns}&rows=${rows}`,
  );
  const session = new AttachSession(socket, terminal);
  const ended = await session.run();
  if (ended === undefined) throw unreachable(connection, `the connection was cut; instance ${id} goes on`);
  switch (ended.reason) {
    case 'detached':
      return `detached from instance ${id}: it goes on`;
    case 'exited':
    case 'left':
      return ended.message;
    case 'lost':
      throw new ClientError(EXIT.unreachable, ended.message);
    default:
      throw failedError(ended.message);
  }
}

class AttachSession {
  readonly #socket: WebSocket;
  readonly #terminal: RawTerminal;
  readonly #keys = new DetachKeys();
  readonly #modes = new TerminalModes();
  /** True: every byte passes unchanged between terminal and program. */
  #isTransparent = false;
  #ended: Ended | undefined;
  #hasTerminal = false;

  constructor(socket: WebSocket, terminal: RawTerminal) {
    this.#socket = socket;
    this.#terminal = terminal;
  }

  /** Resolves when the session has ended and the terminal is restored. Undefined: the connection was lost. */
  async run(): Promise<Ended | undefined> {
    const { input } = this.#terminal;
    const onData = (typed: Buffer | string): void => this.#type(Buffer.from(typed));
    const onEnd = (): void => this.#detach();
    const closed = new Promise<void>((resolve) => this.#socket.once('close', () => resolve()));
    this.#socket.on('error', () => undefined);
    this.#socket.on('message', (data, isBinary) => this.#take(data, isBinary));
    const stops = [
      this.#terminal.onResize(() => this.#resize()),
      this.#terminal.onEnd(() => this.#giveBack()),
    ];
    input.on('data', onData);
    input.once('end', onEnd);
    this.#terminal.takeOver();
    this.#hasTerminal = true;
    try {
      await closed;
    } finally {
      input.off('data', onData);
      input.off('end', onEnd);
      for (const stop of stops) stop();
      this.#giveBack();
    }
    return this.#ended;
  }

  #take(data: RawData, isBinary: boolean): void {
    if (!isBinary) {
      this.#hear(data.toString());
      return;
    }
    const bytes = bytesOf(data);
    this.#modes.take(bytes);
    const { output } = this.#terminal;
    const isTaken = output.write(this.#isTransparent ? bytes : withoutLineFeeds(bytes));
    // While paused, the socket still delivers messages it had already read. Do not add another drain listener for each
    // of them.
    if (isTaken || this.#socket.isPaused) return;
    // Pause until the terminal has caught up. The master detaches a client that pauses for long; the program continues.
    this.#socket.pause();
    output.once('drain', () => this.#socket.resume());
  }

  #hear(text: string): void {
    const message = fieldsOf(text);
    if (message.type === 'attached') this.#isTransparent = message.isTransparent === true;
    else if (message.type === 'refused')
      this.#terminal.output.write(`\r\n[${toPlainText(String(message.message))}]\r\n`);
    else if (message.type === 'ended')
      this.#ended = { reason: String(message.reason), message: String(message.message) };
  }

  #type(typed: Buffer): void {
    const { bytes, isDetached } = this.#keys.take(typed);
    const sent = this.#isTransparent ? withLineFeeds(bytes) : bytes;
    for (let from = 0; from < sent.length; from += MOST_BYTES)
      this.#socket.send(sent.subarray(from, from + MOST_BYTES), { binary: true }, () => this.#goOn());
    if (isDetached) this.#detach();
    else if (this.#socket.bufferedAmount > MOST_WAITING) this.#terminal.input.pause();
  }

  #goOn(): void {
    if (this.#hasTerminal && this.#socket.bufferedAmount <= MOST_WAITING) this.#terminal.input.resume();
  }

  #detach(): void {
    this.#ended = { reason: 'detached', message: '' };
    // Resume, so that the bytes typed before are still sent. Cut the connection if the master does not answer the
    // close.
    this.#socket.resume();
    this.#socket.close();
    setTimeout(() => this.#socket.terminate(), CLOSE_MS).unref();
  }

  #resize(): void {
    this.#socket.send(JSON.stringify({ type: 'resize', ...sizeOf(this.#terminal) }));
  }

  #giveBack(): void {
    if (!this.#hasTerminal) return;
    this.#hasTerminal = false;
    this.#terminal.output.write(`${this.#modes.restoring()}\r\n`);
    this.#terminal.giveBack();
  }
}

/** Returns the fields of a message, or no fields for invalid text. */
function fieldsOf(text: string): Readonly<Record<string, unknown>> {
  return attempt(() => {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? { ...value } : {};
  }, {});
}

function sizeOf(terminal: RawTerminal): { readonly columns: number; readonly rows: number } {
  const { columns, rows } = terminal.size();
  return { columns: Math.min(MOST_LENGTH, columns), rows: Math.min(MOST_LENGTH, rows) };
}

function bytesOf(data: RawData): Buffer {
  if (Buffer.isBuffer(data)) return data;
  return Array.isArray(data) ? Buffer.concat(data) : Buffer.from(data);
}

/**
 * Replaces carriage returns with line feeds. Enter sends a carriage return, but a program that reads lines waits for a
 * line feed.
 */
function withLineFeeds(typed: Buffer): Buffer {
  return Buffer.from(typed.map((byte) => (byte === CR ? LF : byte)));
}

/**
 * Replaces each line feed by the sequence that moves one line down in the same column, as the session means it. The
 * terminal driver would add a carriage return to a line feed.
 */
function withoutLineFeeds(bytes: Buffer): Buffer {
  return bytes.includes(LF)
    ? Buffer.from(bytes.toString('latin1').replaceAll('\n', '\x1bD'), 'latin1')
    : bytes;
}
