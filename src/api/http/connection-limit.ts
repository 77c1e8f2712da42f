/**
 * Limits how many connections the server holds. So clients cannot use up the file descriptors of the node, and no
 * client can take the places of all others. The server tells it which requests a key let in.
 */
import type { IncomingMessage } from 'node:http';
import type { Server, Socket } from 'node:net';
import { openFilesLimit } from '../../files/open-files.js';
import { addressBlockOf } from '../../loop/address-block.js';
import type { Ambient } from '../../telemetry/ambient.js';
import { RepeatedLog } from '../../telemetry/repeated-log.js';

const MAX_CONNECTIONS = 16_384;
/** The part of the limit for each address, counting only connections that have shown no API key. */
const SHARE = 1 / 4;

interface ConnectionLimitOptions extends Ambient {
  /** The limit for connections. Default: half of the files that the process may open, 16,384 at most. */
  readonly limit?: number | undefined;
}

/**
 * A connection is a stranger until a request on it has shown an API key. When an address has more strangers than its
 * share, its oldest stranger is closed. At the limit of all connections the oldest stranger of any address is closed,
 * which may be the new connection itself.
 *
 * A report with an instance's own token makes its connection the youngest stranger again. Instances may be hostile, so
 * they stay strangers, but they outlive silent connections.
 */
export class ConnectionLimit {
  readonly #limit: number;
  readonly #share: number;
  readonly #log: RepeatedLog;
  /** The strangers with the group of their address, the oldest first. */
  readonly #strangers = new Map<Socket, string>();
  /** The strangers by group, the oldest first. */
  readonly #groups = new Map<string, Set<Socket>>();
  readonly #known = new Set<Socket>();
  /** The accepted connection below each TLS socket. The limit counts the accepted connection. */
  readonly #below = new WeakMap<Socket, Socket>();

  constructor({ limit = connectionLimit(), clock, logger }: ConnectionLimitOptions) {
    this.#limit = limit;
    this.#share = Math.max(1, Math.floor(limit * SHARE));
    this.#log = new RepeatedLog(logger, clock);
  }

  /** Counts the connections that the server accepts from now on. */
  follow(server: Server): void {
    server.on('connection', (socket) => this.#take(socket));
  }

  /** Counts a connection that another master of the cluster has made, which is no stranger. */
  welcome(connection: Socket): void {
    this.#known.add(connection);
    connection.once('close', () => this.#forget(connection));
  }

  /** Called when the TLS handshake of `connection` is over: its requests then come from `secure`. */
  noteSecure(connection: Socket, secure: Socket): void {
    this.#below.set(secure, connection);
  }

  /** Called for each request that the gate has let in, or that is forwarded, with its caller. */
  note({
    actor,
    raw,
  }: {
    readonly actor: { readonly kind: 'key' | 'instance' } | null;
    readonly raw: IncomingMessage;
  }): void {
    const socket = this.#below.get(raw.socket) ?? raw.socket;
    const group = actor === null ? undefined : this.#strangers.get(socket);
    if (group === undefined) return;
    this.#drop(socket, group);
    if (actor?.kind === 'key') this.#known.add(socket);
    else this.#add(socket, group);
  }

  #take(socket: Socket): void {
    // Skip a connection that is counted already. A connection comes here again after Drover has ignored its offer of
    // an upgrade.
    if (this.#strangers.has(socket) || this.#known.has(socket)) return;
    const group = addressBlockOf(socket.remoteAddress ?? '');
    socket.once('close', () => this.#forget(socket));
    this.#add(socket, group);
    const ofAddress = this.#groups.get(group) ?? new Set();
    if (ofAddress.size > this.#share) this.#refuseShare(group, ofAddress);
    if (this.#strangers.size + this.#known.size > this.#limit) this.#refuseAll();
  }

  #refuseShare(group: string, [oldest]: Iterable<Socket>): void {
    const message = `address ${group} holds ${this.#share} connections to the API without an API key, its share: the oldest are closed`;
    this.#log.say(`share of ${group}`, message, { address: group, limit: this.#share });
    this.#end(oldest);
  }

  #refuseAll(): void {
    const message = `the API has ${this.#limit} connections, its limit: those without an API key are closed, the oldest first`;
    this.#log.say('limit', message, { limit: this.#limit, known: this.#known.size });
    const [oldest] = this.#strangers.keys();
    this.#end(oldest);
  }

  #end(socket: Socket | undefined): void {
    if (socket === undefined) return;
    this.#forget(socket);
    socket.destroy();
  }

  #add(socket: Socket, group: string): void {
    this.#strangers.set(socket, group);
    this.#groups.set(group, (this.#groups.get(group) ?? new Set()).add(socket));
  }

  #forget(socket: Socket): void {
    this.#known.delete(socket);
    const group = this.#strangers.get(socket);
    if (group !== undefined) this.#drop(socket, group);
  }

  #drop(socket: Socket, group: string): void {
    this.#strangers.delete(socket);
    const ofAddress = this.#groups.get(group);
    ofAddress?.delete(socket);
    if (ofAddress?.size === 0) this.#groups.delete(group);
  }
}

/** The default limit, from the text of `/proc/self/limits`. */
export function connectionLimit(limits?: string): number {
  return Math.min(MAX_CONNECTIONS, Math.floor(openFilesLimit(limits) / 2));
}
