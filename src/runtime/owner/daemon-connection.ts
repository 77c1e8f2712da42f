/**
 * The owner's side of one connection: frames in, each checked before the owner acts on it, and messages out. The owner
 * decides what a message means.
 */
import type { Socket } from 'node:net';
import { type Check, fields, isLog, isNumber, isText, listOf, mapOf, only, orNone } from './checks.js';
import {
  encodeFrame,
  FrameReader,
  type OwnerMessage,
  type OwnerRequest,
  type StartRequest,
} from './protocol.js';

const RUN = { instanceId: isText, run: isNumber };
const NUMBERED = { id: isNumber, ...RUN };
/** A width or height that a terminal takes. */
const isLength: Check<number> = (value): value is number =>
  Number.isInteger(value) && Number(value) >= 1 && Number(value) <= 0xffff;
const SIZE = { columns: isLength, rows: isLength };

const REQUESTS: { readonly [T in OwnerRequest['type']]: Check<Extract<OwnerRequest, { type: T }>> } = {
  hello: fields({ type: only('hello'), protocol: isNumber, rootId: isText }),
  start: fields<StartRequest>({
    type: only('start'),
    ...NUMBERED,
    command: isText,
    workingDirectory: isText,
    environment: mapOf(isText),
    hidden: orNone(listOf(isText)),
    controlGroups: orNone(listOf(isText)),
    log: isLog,
  }),
  write: fields({ type: only('write'), ...NUMBERED }),
  acknowledge: fields({ type: only('acknowledge'), ...NUMBERED }),
  attach: fields({ type: only('attach'), rootId: isText, ...RUN, ...SIZE }),
  input: fields({ type: only('input') }),
  resize: fields({ type: only('resize'), ...SIZE }),
};

type OnRequest = (connection: DaemonConnection, request: OwnerRequest, body: Buffer) => void;

export class DaemonConnection {
  readonly #socket: Socket;

  /** `onClose`: called once. The connection must not be used afterwards. */
  constructor(socket: Socket, onRequest: OnRequest, onClose: (connection: DaemonConnection) => void) {
    this.#socket = socket;
    const frames = new FrameReader();
    socket.on('data', (chunk) => {
      try {
        for (const { message, body } of frames.push(chunk)) {
          if (!isRequest(message)) throw new SyntaxError('a message that this protocol does not know');
          onRequest(this, message, body);
        }
      } catch (error) {
        // The other side is not Drover's daemon, or is broken. It may connect again.
        process.stderr.write(`connection refused: ${error instanceof Error ? error.message : error}\n`);
        socket.destroy();
      }
    });
    socket.on('error', () => socket.destroy());
    socket.on('close', () => onClose(this));
  }

  /** How many bytes wait for the other side to read. */
  get unreadBytes(): number {
    return this.#socket.writableLength;
  }

  send(message: OwnerMessage, body?: Uint8Array): void {
    if (!this.#socket.destroyed) this.#socket.write(encodeFrame(message, body));
  }

  /** Sends a last message and closes. */
  end(message: OwnerMessage): void {
    this.#socket.end(encodeFrame(message));
    this.#socket.unref();
  }
}

function isRequest(value: unknown): value is OwnerRequest {
  return Object.values(REQUESTS).some((check) => check(value));
}
