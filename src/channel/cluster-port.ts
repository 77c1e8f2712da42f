/**
 * The cluster port while nodes do not join over the network yet: it tells an HTTP client that came to the wrong door
 * where the right one is, and closes on everything else. On loopback only: beyond it nothing listens without TLS.
 */
import { createServer, isIPv6, type Server, type Socket } from 'node:net';
import type { Part } from '../loop/lifecycle.js';
import { describeListenError } from './listen-error.js';

const HOST = '127.0.0.1';
const MAX_CONNECTIONS = 64;
/** Enough for a client to say what it speaks, and to fetch the answer. */
const LIFETIME_MS = 5000;
/** More than the longest method in use, its space and what follows. */
const ENOUGH_BYTES = 16;
const HTTP_REQUEST = /^[A-Z]{3,7} [/*h]/;
const HTTP_BEGINNING = /^[A-Z]{1,7} ?$/;

export interface ClusterPortOptions {
  /** 0: one of the system's choice. */
  readonly port: number;
  /** Where the API is, for the hint. */
  readonly api: { readonly address: string; readonly port: number };
}

export class ClusterPort implements Part {
  readonly #options: ClusterPortOptions;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  constructor(options: ClusterPortOptions) {
    this.#options = options;
    this.#server = createServer((socket) => this.#onConnection(socket));
    this.#server.maxConnections = MAX_CONNECTIONS;
  }

  /** The port it really listens on; undefined while it does not. */
  get port(): number | undefined {
    const address = this.#server.address();
    return address !== null && typeof address === 'object' ? address.port : undefined;
  }

  /** Throws DRV_NODE_PORT_IN_USE or DRV_NODE_CONFIG_INVALID. */
  async start(): Promise<void> {
    const { port } = this.#options;
    await new Promise<void>((resolve, reject) => {
      const onError = (error: Error): void =>
        reject(describeListenError(error, { what: 'the cluster port', host: HOST, port, portField: 'port' }));
      this.#server.once('error', onError);
      this.#server.listen(port, HOST, () => {
        this.#server.off('error', onError);
        resolve();
      });
    });
  }

  async stop(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  #onConnection(socket: Socket): void {
    this.#sockets.add(socket);
    const timer = setTimeout(() => socket.destroy(), LIFETIME_MS);
    socket.on('error', () => {});
    socket.on('close', () => {
      clearTimeout(timer);
      this.#sockets.delete(socket);
    });
    let begun = '';
    const onData = (chunk: Buffer): void => {
      begun += chunk.toString('latin1', 0, ENOUGH_BYTES);
      if (HTTP_BEGINNING.test(begun)) return;
      socket.off('data', onData);
      if (!HTTP_REQUEST.test(begun)) {
        socket.destroy();
        return;
      }
      // What else it sends is read and thrown away: closing over unread bytes could lose the answer.
      socket.resume();
      socket.end(this.#hint());
    };
    socket.on('data', onData);
  }

  #hint(): string {
    const { address, port } = this.#options.api;
    const url = `http://${isIPv6(address) ? `[${address}]` : address}:${port}/api`;
    const text = `This is the cluster port of Drover: only nodes talk here. The API is at ${url}\n`;
    const head = [
      'HTTP/1.1 400 Bad Request',
      'Content-Type: text/plain; charset=utf-8',
      `Content-Length: ${Buffer.byteLength(text)}`,
      'Connection: close',
    ];
    return `${head.join('\r\n')}\r\n\r\n${text}`;
  }
}
