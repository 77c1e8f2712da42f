/** The owner's side of one connection: frames in, messages out. The owner decides what a message means. */
import type { Socket } from 'node:net';
import { parseRequest } from './owner-requests.js';
import { encodeFrame, FrameReader, type OwnerMessage, type OwnerRequest } from './protocol.js';

interface ConnectionEvents {
  onRequest(connection: DaemonConnection, request: OwnerRequest, body: Buffer): void;
  /** Called once. The connection must not be used afterwards. */
  onClose(connection: DaemonConnection): void;
}

export class DaemonConnection {
  readonly #socket: Socket;

  constructor(socket: Socket, events: ConnectionEvents) {
    this.#socket = socket;
    const frames = new FrameReader();
    socket.on('data', (chunk) => {
      try {
        for (const { message, body } of frames.push(chunk)) this.#receive(message, body, events);
      } catch (error) {
        // The other side is no daemon of ours, or a broken one. It may connect again.
        process.stderr.write(`connection refused: ${error instanceof Error ? error.message : error}\n`);
        socket.destroy();
      }
    });
    socket.on('error', () => socket.destroy());
    socket.on('close', () => events.onClose(this));
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

  #receive(message: unknown, body: Buffer, events: ConnectionEvents): void {
    const request = parseRequest(message);
    if (request === undefined) throw new SyntaxError('a message that this protocol does not know');
    events.onRequest(this, request, body);
  }
}
