/**
 * An open WebSocket as its endpoint sees it: limited in both directions, and silent once closed. The library encodes
 * and decodes frames; this class keeps the limits.
 */

import type { Socket } from 'node:net';
import { type RawData, WebSocket } from 'ws';
import type { Access } from '../../access/access.js';
import { cutToBytes } from '../../model/words.js';
import { MAX_BUFFERED_BYTES, Outlet } from './outlet.js';
import { type ApiSocket, CLOSE } from './socket.js';

const KIB = 1024;
/** While this many bytes wait for a client, its pings are not answered. */
const MAX_PONG_BACKLOG_BYTES = 64 * KIB;
const MAX_EARLY_BYTES = 64 * KIB;
const MAX_REASON_BYTES = 123;

interface OpenSocketOptions {
  readonly websocket: WebSocket;
  /** The connection of `websocket`. */
  readonly connection: Socket;
  readonly access: Access;
  readonly address: string;
}

export class OpenSocket extends Outlet implements ApiSocket {
  readonly access: Access;
  readonly address: string;
  readonly #websocket: WebSocket;
  readonly #connection: Socket;
  #listener: ((text: string) => void) | undefined;
  #binaryListener: ((bytes: Buffer) => Promise<void>) | undefined;
  /** The number of binary frames that the listener has not taken yet. */
  #untaken = 0;
  /** The frames that came before the listener was set. */
  readonly #early: string[] = [];
  #earlyBytes = 0;
  #readAtBeat = 0;
  #takenAtBeat = 0;
  #wasBehindAtBeat = false;

  constructor({ websocket, connection, access, address }: OpenSocketOptions) {
    super(connection);
    this.#websocket = websocket;
    this.#connection = connection;
    this.access = access;
    this.address = address;
    websocket.on('message', (data, isBinary) => this.#onMessage(data, isBinary));
    websocket.on('ping', (data) => this.#onPing(data));
    websocket.on('close', () => this.end());
  }

  sendText(text: string): void {
    if (!this.isOpen) return;
    this.#websocket.send(text);
    this.#limitBuffer();
  }

  sendBinary(bytes: Buffer): void {
    if (!this.isOpen) return;
    this.#websocket.send(bytes, { binary: true });
    this.#limitBuffer();
  }

  sendFrames(frames: Buffer): void {
    if (!this.isOpen) return;
    // These frames never land inside a frame of the library, because the library, without compression, writes each
    // frame whole and at once.
    this.#connection.write(frames);
    this.#limitBuffer();
  }

  onText(listener: (text: string) => void): void {
    this.#listener = listener;
    for (const text of this.#early.splice(0)) this.#hear(text);
  }

  onBinary(listener: (bytes: Buffer) => Promise<void>): void {
    this.#binaryListener = listener;
  }

  close(code: number, reason: string): void {
    if (this.signal.aborted) return;
    this.#websocket.close(code, cutToBytes(reason, MAX_REASON_BYTES));
    this.end();
  }

  /** Closes the socket because its key or session has ended. Drops the output that the client has not received. */
  revoke(reason: string): void {
    if (this.bufferedBytes > 0) this.#connection.destroy();
    this.close(CLOSE.refused, reason);
  }

  /**
   * Called regularly. Pings the peer, or ends the connection when the peer has sent and read nothing since the last
   * call.
   */
  beat(): void {
    const { bytesRead, bytesWritten, writableLength } = this.#connection;
    const taken = bytesWritten - writableLength;
    // A slow reader cannot answer yet, because the ping waits behind other data. So a client that has taken some of
    // that data since the last call counts as alive.
    const isReading = this.#wasBehindAtBeat && taken > this.#takenAtBeat;
    // While the endpoint still handles earlier frames, nothing more is read from the client, so its silence does not
    // count.
    const isHeard = this.#untaken > 0 || bytesRead > this.#readAtBeat;
    if (!isHeard && !isReading) {
      this.#websocket.terminate();
      return;
    }
    this.#readAtBeat = bytesRead;
    this.#takenAtBeat = taken;
    this.#wasBehindAtBeat = writableLength > 0;
    if (this.isOpen) this.#websocket.ping();
  }

  protected override get isOpen(): boolean {
    return super.isOpen && this.#websocket.readyState === WebSocket.OPEN;
  }

  #onMessage(data: RawData, isBinary: boolean): void {
    if (!this.isOpen) return;
    if (!isBinary) this.#hear(data.toString());
    else if (this.#binaryListener === undefined)
      this.close(CLOSE.noBinary, 'this socket takes text frames only');
    else void this.#hearBinary(toBuffer(data), this.#binaryListener);
  }

  #hear(text: string): void {
    // A listener may have closed the socket on an earlier text, and a closed socket delivers nothing.
    if (!this.isOpen) return;
    if (this.#listener !== undefined) {
      this.#listener(text);
      return;
    }
    this.#early.push(text);
    this.#earlyBytes += Buffer.byteLength(text) + 1;
    if (this.#earlyBytes > MAX_EARLY_BYTES) this.close(CLOSE.refused, 'too many frames, too early');
  }

  async #hearBinary(bytes: Buffer, listener: (bytes: Buffer) => Promise<void>): Promise<void> {
    this.#untaken++;
    this.#websocket.pause();
    await listener(bytes).finally(() => {
      if (--this.#untaken === 0) this.#websocket.resume();
    });
  }

  #onPing(data: Buffer): void {
    if (this.isOpen && this.bufferedBytes < MAX_PONG_BACKLOG_BYTES) this.#websocket.pong(data);
  }

  #limitBuffer(): void {
    if (this.bufferedBytes > MAX_BUFFERED_BYTES)
      this.close(CLOSE.tooSlow, 'too slow: 16 MiB wait to be read');
  }

  protected override end(): void {
    this.#early.length = 0;
    super.end();
  }
}

/** The bytes of a frame. The library gives whole frames, even when it received them in pieces. */
function toBuffer(data: RawData): Buffer {
  if (Buffer.isBuffer(data)) return data;
  return Array.isArray(data) ? Buffer.concat(data) : Buffer.from(data);
}
