/**
 * The cluster port, as far as strangers see it. It looks at the first byte of a connection and hands TLS on to the
 * cluster server. An HTTP client is told where the API is; everything else is closed. A peer that is not let in within
 * ten seconds is disconnected. Each address has a share of the connections, and a limit for its failed connections.
 */
import { once } from 'node:events';
import { createServer, isIP, type Server, type Socket } from 'node:net';
import { connectionsWithin } from '../../files/open-files.js';
import { addressBlockOf } from '../../loop/address-block.js';
import type { Clock } from '../../loop/clock.js';
import { connectionKey } from '../../loop/connection-key.js';
import { FailureLimiter } from '../../loop/failure-limiter.js';
import type { Part } from '../../loop/lifecycle.js';
import { SystemClock } from '../../loop/system-clock.js';
import { describeListenError } from '../../model/settings/listen-error.js';

/** The limit for all connections: room for every node and some more. Further connections are closed at once. */
const MAX_CONNECTIONS = 4096;
/**
 * How many connections may wait to be let in: room for a whole cluster that comes back at once. Above the limit, the
 * address with the most waiting connections loses its oldest.
 */
const MAX_STRANGERS = 1024;
/** The part of that limit for one address: many nodes may share an address, but other addresses need room too. */
const SHARE = 1 / 2;
/**
 * How many failed connections an address may have. Further connections of the address are closed before the handshake,
 * which costs a millisecond of the processor.
 */
const FAILURES = { burst: 512, refillMs: 20 };
/**
 * How long a connection may wait to be let in: enough for a TLS handshake and a request on a slow link, or for the
 * hint.
 */
const LIFETIME_MS = 10_000;
const TLS_HANDSHAKE = 0x16;
/**
 * How many first bytes to wait for: more than the longest HTTP method, the space after it and the first character of
 * the path.
 */
const ENOUGH_BYTES = 16;
const HTTP_REQUEST = /^[A-Z]{3,7} [/*h]/;
const HTTP_BEGINNING = /^[A-Z]{1,7} ?$/;

export interface ClusterPortOptions {
  /** The address of an interface, or of all interfaces. */
  readonly host: string;
  /** The port; 0: the system chooses a free port. */
  readonly port: number;
  /** The address of the API, for the hint. */
  readonly api: { readonly address: string; readonly port: number; readonly hasTls: boolean };
  /** Takes a connection that begins with TLS. The first bytes were put back, so the connection looks unread. */
  readonly onTls: (socket: Socket) => void;
  /** The clock for the failures of an address. Default: the system's clock. */
  readonly clock?: Pick<Clock, 'monotonic'>;
}

/** A connection that has not been let in. */
interface Stranger {
  readonly key: string;
  readonly socket: Socket;
  /** The peer's address block, which the limits count by. */
  readonly block: string;
  readonly timer: NodeJS.Timeout;
  /** True when the end of the connection must not count as a failure. */
  isExcused: boolean;
}

export class ClusterPort implements Part {
  readonly #options: ClusterPortOptions;
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #server: Server;
  readonly #mostStrangers = connectionsWithin(1 / 4, MAX_STRANGERS);
  readonly #sockets = new Set<Socket>();
  /** The waiting connections by their key. */
  readonly #strangers = new Map<string, Stranger>();
  /** The waiting connections of each address block, the oldest first. */
  readonly #crowds = new Map<string, Set<Stranger>>();
  readonly #failures = new FailureLimiter(FAILURES);

  constructor(options: ClusterPortOptions) {
    this.#options = options;
    this.#clock = options.clock ?? new SystemClock();
    this.#server = createServer((socket) => this.#onConnection(socket));
    this.#server.maxConnections = MAX_CONNECTIONS;
  }

  /** The port that this port listens on; undefined while it does not listen. */
  get port(): number | undefined {
    const address = this.#server.address();
    return address !== null && typeof address === 'object' ? address.port : undefined;
  }

  /** Begins to listen. Throws DRV_NODE_PORT_IN_USE or DRV_NODE_CONFIG_INVALID. */
  async start(): Promise<void> {
    const { port, host } = this.#options;
    const listener = { what: 'the cluster port', host, port, portField: 'port', addressField: 'bindAddress' };
    this.#server.listen(port, host);
    await once(this.#server, 'listening').catch((error: Error) => {
      throw describeListenError(error, listener);
    });
  }

  async stop(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  /**
   * Keeps the connection of a node for good. `socket` is the socket that was handed on, or the TLS socket around it.
   */
  letIn(socket: Socket): void {
    this.#forget(connectionKey(socket));
  }

  /**
   * Excuses a connection: its end does not count as a failure, because the peer did nothing wrong. The connection
   * still has to be let in, or it ends after ten seconds.
   */
  excuse(socket: Socket): void {
    const stranger = this.#strangers.get(connectionKey(socket));
    if (stranger !== undefined) stranger.isExcused = true;
  }

  #onConnection(socket: Socket): void {
    socket.on('error', () => {});
    const { remoteAddress } = socket;
    // The peer has hung up already, so its address is not known.
    if (remoteAddress === undefined) {
      socket.destroy();
      return;
    }
    const key = connectionKey(socket);
    const block = addressBlockOf(remoteAddress);
    const ofOne = this.#crowds.get(block)?.size ?? 0;
    if (ofOne >= this.#mostStrangers * SHARE || this.#failures.isOver(block, this.#clock.monotonic())) {
      socket.destroy();
      return;
    }
    if (this.#strangers.size >= this.#mostStrangers) this.#makeRoom();
    this.#sockets.add(socket);
    const timer = setTimeout(() => socket.destroy(), LIFETIME_MS);
    const stranger = { key, socket, block, timer, isExcused: false };
    this.#strangers.set(key, stranger);
    this.#crowds.set(block, (this.#crowds.get(block) ?? new Set()).add(stranger));
    socket.on('close', () => {
      this.#sockets.delete(socket);
      if (this.#forget(key)?.isExcused === false) this.#fail(block);
    });
    socket.once('data', (chunk: Buffer) => {
      if (chunk[0] !== TLS_HANDSHAKE) {
        this.#hint(socket, chunk);
        return;
      }
      socket.pause();
      socket.unshift(chunk);
      this.#options.onTls(socket);
    });
  }

  /** Closes the oldest connection of the address block that has the most connections. */
  #makeRoom(): void {
    const crowd = [...this.#crowds.values()].reduce((most, some) => (some.size > most.size ? some : most));
    const [oldest] = crowd;
    if (oldest === undefined) return;
    // Forget the connection now: its `close` event comes only after other new connections.
    this.#forget(oldest.key);
    this.#fail(oldest.block);
    oldest.socket.destroy();
  }

  #forget(key: string): Stranger | undefined {
    const stranger = this.#strangers.get(key);
    if (stranger === undefined) return undefined;
    clearTimeout(stranger.timer);
    this.#strangers.delete(key);
    const crowd = this.#crowds.get(stranger.block);
    crowd?.delete(stranger);
    if (crowd?.size === 0) this.#crowds.delete(stranger.block);
    return stranger;
  }

  #fail(block: string): void {
    this.#failures.fail(block, this.#clock.monotonic());
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
      // The remaining request is read and thrown away: closing the socket over unread bytes could lose the answer.
      socket.resume();
      socket.end(httpAnswer('400 Bad Request', 'text/plain; charset=utf-8', wrongDoor(this.#options.api)));
    };
    socket.on('data', onData);
    onData(first);
  }
}

/** An answer that ends its connection, for a socket without a server. */
export function httpAnswer(status: string, type: string, body: string): string {
  const head = [
    `HTTP/1.1 ${status}`,
    `Content-Type: ${type}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
  ];
  return `${head.join('\r\n')}\r\n\r\n${body}`;
}

/** The answer to an HTTP client at the cluster port. */
export function wrongDoor({ address, port, hasTls }: ClusterPortOptions['api']): string {
  const url = `${hasTls ? 'https' : 'http'}://${isIP(address) === 6 ? `[${address}]` : address}:${port}/api`;
  return `This is the cluster port of Drover: only nodes talk here. The API is at ${url}\n`;
}
