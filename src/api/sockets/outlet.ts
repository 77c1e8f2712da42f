/** The sending side of a client's connection: how much waits for the client, and when it has drained. */
import type { Writable } from 'node:stream';

/** The memory limit for one client. Endpoints stop sending long before. */
export const MAX_BUFFERED_BYTES = 16 * 1024 * 1024;
const DRAINED_BYTES = 256 * 1024;

export abstract class Outlet {
  readonly #connection: Writable;
  readonly #closed = new AbortController();
  #drained: (() => void)[] = [];

  constructor(connection: Writable) {
    this.#connection = connection;
    connection.on('drain', () => this.#releaseDrained());
  }

  /** Aborts when either side ends the connection. After that nothing is received or sent. */
  get signal(): AbortSignal {
    return this.#closed.signal;
  }

  /** The bytes that wait for the kernel to take them. */
  get bufferedBytes(): number {
    return this.#connection.writableLength;
  }

  /**
   * Resolves at once when `bufferedBytes` is 256 KiB or less. Otherwise resolves when the kernel has taken all bytes,
   * or the connection has ended.
   */
  whenDrained(): Promise<void> {
    if (!this.isOpen || this.bufferedBytes <= DRAINED_BYTES) return Promise.resolve();
    return new Promise((resolve) => this.#drained.push(resolve));
  }

  protected get isOpen(): boolean {
    return !this.#closed.signal.aborted;
  }

  /** Called when either side has ended the connection. Idempotent. */
  protected end(): void {
    this.#closed.abort();
    this.#releaseDrained();
  }

  #releaseDrained(): void {
    for (const resolve of this.#drained.splice(0)) resolve();
  }
}
