/**
 * The cluster port, as far as strangers see it. It looks at the first byte of a connection and hands TLS on to the
 * cluster server. An HTTP client hears where the API is; everything else is closed. A peer that is not let in within
 * ten seconds is disconnected.
 */
import { createServer, isIPv6, type Server, type Socket } from 'node:net';
import type { Part } from '../../loop/lifecycle.js';
import { describeListenError } from '../../model/listen-error.js';

/** Every node and some more; further connections are closed at once. */
const MAX_CONNECTIONS = 4096;
/** Connections that are not let in yet: room for a cluster that comes back all at once. */
const MAX_STRANGERS = 1024;
/** One address may stand for many nodes behind it, but leaves room for others. */
const MAX_STRANGERS_OF_ONE = 512;
/** Enough for a TLS handshake and a request on a slow link, or to fetch the hint. */
const LIFETIME_MS = 10_000;
const TLS_HANDSHAKE = 0x16;
/** More than the longest method in use, its space and what follows. */
const ENOUGH_BYTES = 16;
const HTTP_REQUEST = /^[A-Z]{3,7} [/*h]/;
const HTTP_BEGINNING = /^[A-Z]{1,7} ?$/;

export interface ClusterPortOptions {
  /** Address of the interface, or all of them. */
  readonly host: string;
  /** 0: the system chooses one. */
  readonly port: number;
  /** Where the API is, for the hint. */
  readonly api: { readonly address: string; readonly port: number };
  /** Takes a connection that begins with TLS; nothing has been read from it as far as it can tell. */
  readonly onTls: (socket: Socket) => void;
}

export class ClusterPort implements Part {
  readonly #options: ClusterPortOptions;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #strangers = new Map<string, NodeJS.Timeout>();
  /** Strangers by address. */
  readonly #counts = new Map<string, number>();

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
    const { port, host } = this.#options;
    const listener = { what: 'the cluster port', host, port, portField: 'port', addressField: 'bindAddress' };
    await new Promise<void>((resolve, reject) => {
      const onError = (error: Error): void => reject(describeListenError(error, listener));
      this.#server.once('error', onError);
      this.#server.listen(port, host, () => {
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

  /** Keeps the connection: it is a node's. `socket` is the one handed on, or the TLS socket around it. */
  letIn(socket: Socket): void {
    this.#forget(keyOf(socket), socket.remoteAddress ?? '');
  }

  #onConnection(socket: Socket): void {
    socket.on('error', () => {});
    const key = keyOf(socket);
    const { remoteAddress = '' } = socket;
    const ofOne = this.#counts.get(remoteAddress) ?? 0;
    if (this.#strangers.size >= MAX_STRANGERS || ofOne >= MAX_STRANGERS_OF_ONE) {
      socket.destroy();
      return;
    }
    this.#sockets.add(socket);
    this.#counts.set(remoteAddress, ofOne + 1);
    this.#strangers.set(
      key,
      setTimeout(() => socket.destroy(), LIFETIME_MS),
    );
    socket.on('close', () => {
      this.#sockets.delete(socket);
      this.#forget(key, remoteAddress);
    });
    socket.once('data', (chunk: Buffer) => {
      if (chunk[0] === TLS_HANDSHAKE) this.#handOn(socket, chunk);
      else this.#hint(socket, chunk);
    });
  }

  #forget(key: string, address: string): void {
    const timer = this.#strangers.get(key);
    if (timer === undefined) return;
    clearTimeout(timer);
    this.#strangers.delete(key);
    const rest = (this.#counts.get(address) ?? 1) - 1;
    if (rest > 0) this.#counts.set(address, rest);
    else this.#counts.delete(address);
  }

  #handOn(socket: Socket, first: Buffer): void {
    socket.pause();
    socket.unshift(first);
    this.#options.onTls(socket);
  }

  #hint(socket: Socket, first: Buffer): void {
    let begun = '';
    const onData = (chunk: Buffer): void => {
      begun += chunk.toString('latin1', 0, ENOUGH_BYTES);
      if (HTTP_BEGINNING.test(begun)) return;
      socket.off('data', onData);
      if (!HTTP_REQUEST.test(begun)) {
        socket.destroy();
        return;
      }
      // The rest of its request is read and thrown away: closing over unread bytes could lose the answer.
      socket.resume();
      socket.end(this.#answer());
    };
    socket.on('data', onData);
    onData(first);
  }

  #answer(): string {
    const text = wrongDoor(this.#options.api);
    const head = [
      'HTTP/1.1 400 Bad Request',
      'Content-Type: text/plain; charset=utf-8',
      `Content-Length: ${Buffer.byteLength(text)}`,
      'Connection: close',
    ];
    return `${head.join('\r\n')}\r\n\r\n${text}`;
  }
}

/** The text that an HTTP client gets here. */
export function wrongDoor({ address, port }: ClusterPortOptions['api']): string {
  const url = `http://${isIPv6(address) ? `[${address}]` : address}:${port}/api`;
  return `This is the cluster port of Drover: only nodes talk here. The API is at ${url}\n`;
}

/** Names a connection: the same for a socket and the TLS socket around it, different for any other that is open. */
function keyOf({ localAddress, remoteAddress, remotePort }: Socket): string {
  return `${localAddress} ${remoteAddress} ${remotePort}`;
}
