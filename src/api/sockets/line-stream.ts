/** A streamed answer: lines of text for a client that has no WebSocket, at the client's own pace. */
import type { FastifyReply } from 'fastify';
import { MAX_BUFFERED_BYTES, Outlet } from './outlet.js';

export class LineStream extends Outlet {
  readonly #reply: FastifyReply['raw'];

  /** Sends the head of the answer. The connection ends with the answer, because it counts as a socket. */
  constructor(reply: FastifyReply, contentType: string) {
    const { raw } = reply.hijack();
    super(raw);
    this.#reply = raw;
    raw.writeHead(200, { 'content-type': contentType, 'cache-control': 'no-store', connection: 'close' });
    raw.flushHeaders();
    raw.once('close', () => this.end());
    raw.on('error', () => undefined);
  }

  /** Sends whole lines. */
  write(lines: Buffer): void {
    if (!this.isOpen) return;
    this.#reply.write(lines);
    if (this.bufferedBytes > MAX_BUFFERED_BYTES) this.close();
  }

  /** Ends the stream with the end of its answer. Idempotent. */
  close(): void {
    this.#reply.end();
    this.end();
  }

  /** Ends the connection at once. Drops the output that the client has not received. */
  revoke(): void {
    this.#reply.destroy();
  }
}
