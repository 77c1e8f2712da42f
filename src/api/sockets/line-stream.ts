/** A streamed answer: lines of text for a client that has no WebSocket, at the client's own pace. */
import type { FastifyReply } from 'fastify';

/** The memory limit for one reader. Endpoints stop writing long before. */
const MAX_BUFFERED_BYTES = 16 * 1024 * 1024;
const DRAINED_BYTES = 256 * 1024;

export class LineStream {
  readonly #reply: FastifyReply['raw'];
  readonly #closed = new AbortController();
  #drained: (() => void)[] = [];

  /** Sends the head of the answer. The connection ends with the answer, because it counts as a socket. */
  constructor(reply: FastifyReply, contentType: string) {
    const { raw } = reply.hijack();
    this.#reply = raw;
    raw.writeHead(200, { 'content-type': contentType, 'cache-control': 'no-store', connection: 'close' });
    raw.flushHeaders();
    raw.on('drain', () => this.#releaseDrained());
    raw.once('close', () => this.#end());
    raw.on('error', () => undefined);
  }

  /** Aborts when either side ends the connection. After that nothing is sent. */
  get signal(): AbortSignal {
    return this.#closed.signal;
  }

  /** The bytes that wait for the kernel to take them, including those of the connection. */
  get bufferedBytes(): number {
    return this.#reply.writableLength;
  }

  /** Sends whole lines. */
  write(lines: Buffer): void {
    if (this.#closed.signal.aborted) return;
    this.#reply.write(lines);
    if (this.bufferedBytes > MAX_BUFFERED_BYTES) this.close();
  }

  /**
   * Resolves at once when few bytes wait; otherwise when the kernel has taken all bytes or the connection has ended.
   */
  whenDrained(): Promise<void> {
    if (this.#closed.signal.aborted || this.bufferedBytes <= DRAINED_BYTES) return Promise.resolve();
    return new Promise((resolve) => this.#drained.push(resolve));
  }

  /** Ends the stream. Idempotent. */
  close(): void {
    this.#reply.end();
  }

  #releaseDrained(): void {
    for (const resolve of this.#drained.splice(0)) resolve();
  }

  #end(): void {
    this.#closed.abort();
    this.#releaseDrained();
  }
}
