/**
 * Sorts requests with an `Upgrade` header into WebSocket handshakes and plain requests. A Node server that has a
 * listener for upgrades hands over every such request with its body unread. Many of them only offer an upgrade: Java's
 * HTTP client offers `h2c` with every plain request. RFC 9110 (7.8) lets a server ignore an offer. So plain requests
 * are put back on their connection without the offer, and are answered like any other.
 */
import { type IncomingMessage, type Server, ServerResponse } from 'node:http';
import { Server as TlsServer } from 'node:https';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { patternOf } from './other-methods.js';
import { hasBody } from './time-limits.js';

/** The answer to Node's parser after a head, so that it hands over everything behind the head unread. */
const LEAVE_REST = 2;
const OFFER_HEADERS: ReadonlySet<string> = new Set(['upgrade', 'http2-settings']);

interface UpgradesOptions {
  readonly server: Server;
  /** Gets the `upgrade` events of WebSocket handshakes. It never listens on a port. */
  readonly sockets: Server;
  /** The paths of the socket endpoints, as the router has them: `/api/instances/:id/live-log`. */
  readonly patterns: readonly string[];
  /** Gets each handshake first, and calls `here` when this server is to answer it. Absent: this server answers all. */
  readonly before?: (request: IncomingMessage, socket: Duplex, rest: Buffer, here: () => void) => void;
}

export class Upgrades {
  readonly #server: Server;
  readonly #sockets: Server;
  readonly #paths: readonly RegExp[];
  readonly #before: NonNullable<UpgradesOptions['before']>;
  readonly #handshakes = new WeakSet<IncomingMessage>();
  /** The connections that Node's server has handed over, which it does not close any more. */
  readonly #detached = new Map<Socket, () => void>();

  constructor({ server, sockets, patterns, before }: UpgradesOptions) {
    this.#before = before ?? ((_request, _socket, _rest, here) => here());
    this.#server = server;
    this.#sockets = sockets;
    this.#paths = patterns.map(patternOf);
    server.on(requestsEventOf(server), leaveBodiesUnread);
    server.on('upgrade', (request, socket, rest) => this.#onUpgrade(request, socket, rest));
  }

  /**
   * Called for each request before its answer. The answer to a handshake is the last on its connection, because no
   * parser reads the connection any more.
   */
  readonly closeAfterAnswer = ({ raw }: FastifyRequest, reply: FastifyReply): void => {
    if (!this.#handshakes.has(raw)) return;
    reply.raw.setHeader('connection', 'close');
    reply.raw.once('finish', () => raw.socket.destroySoon());
  };

  /** Closes the connections that the server's own `closeAllConnections` does not know. */
  closeAll(): void {
    for (const connection of this.#detached.keys()) connection.destroy();
  }

  #onUpgrade(request: IncomingMessage, socket: Duplex, rest: Buffer): void {
    const connection = request.socket;
    const isHandshake = this.#isHandshake(request);
    this.#detach(connection);
    if (!isHandshake) socket.unshift(Buffer.concat([headWithoutOffer(request), rest]));
    const next = isHandshake
      ? (): void => this.#handOver(request, socket, rest)
      : (): void => this.#putBack(connection);
    // Go on in a later turn: outside the parser's own call, and after the answers to earlier requests of the
    // connection.
    setImmediate(() => this.#afterAnswersBefore(connection, next));
  }

  #detach(connection: Socket): void {
    const forget = (): void => {
      this.#detached.delete(connection);
    };
    this.#detached.set(connection, forget);
    connection.once('close', forget);
    // Node has removed its own error listener, so an error would be uncaught.
    connection.on('error', destroy);
  }

  #afterAnswersBefore(connection: Socket, next: () => void): void {
    if (connection.destroyed) return;
    const before = currentAnswer(connection);
    if (before === undefined) next();
    else before.once('close', () => setImmediate(() => this.#afterAnswersBefore(connection, next)));
  }

  #putBack(connection: Socket): void {
    const forget = this.#detached.get(connection);
    if (forget !== undefined) connection.off('close', forget);
    this.#detached.delete(connection);
    connection.off('error', destroy);
    this.#server.emit(requestsEventOf(this.#server), connection);
  }

  #handOver(request: IncomingMessage, socket: Duplex, rest: Buffer): void {
    request.socket.setTimeout(0);
    this.#before(request, socket, rest, () => {
      request.socket.off('error', destroy);
      this.#handshakes.add(request);
      this.#sockets.emit('upgrade', request, socket, rest);
    });
  }

  /** True for a request that may become a WebSocket. Any other is a plain request, even if it asks for an upgrade. */
  #isHandshake(request: IncomingMessage): boolean {
    const { method, headers, httpVersion, url = '' } = request;
    return (
      method === 'GET' &&
      httpVersion === '1.1' &&
      headers.upgrade?.trim().toLowerCase() === 'websocket' &&
      !hasBody(request) &&
      this.#paths.some((path) => path.test(url))
    );
  }
}

/** The event that makes a server of Node read requests from a connection whose bytes are in clear. */
export function requestsEventOf(server: Server): 'secureConnection' | 'connection' {
  return server instanceof TlsServer ? 'secureConnection' : 'connection';
}

/**
 * From version 26 on, Node reads the body of a request with an offer itself, and forgets requests that are pipelined
 * behind it. This has its parser stop at the head, as earlier versions do. The parser is Node's own affair: where it
 * has another form, nothing is changed.
 */
function leaveBodiesUnread(connection: Socket & { readonly parser?: Partial<RequestParser> | null }): void {
  const { parser } = connection;
  const onIncoming = parser?.onIncoming;
  if (parser == null || typeof onIncoming !== 'function') return;
  parser.onIncoming = (request, mayGoOn) => {
    const answer = onIncoming(request, mayGoOn);
    return request.upgrade === true ? LEAVE_REST : answer;
  };
}

function destroy(this: Socket): void {
  this.destroy();
}

/** The part of Node's parser that is called after each head, and says what to do with what follows it. */
interface RequestParser {
  onIncoming: ((request: IncomingMessage & { upgrade?: boolean }, mayGoOn: boolean) => number) | null;
}

/** The answer that is under way on the connection. Node keeps it there for its own pipelining. */
function currentAnswer(connection: Socket): ServerResponse | undefined {
  if (!('_httpMessage' in connection)) return undefined;
  const { _httpMessage: answer } = connection;
  return answer instanceof ServerResponse ? answer : undefined;
}

/** The bytes of the request's head, without the offer. Node's parser has accepted each line already. */
function headWithoutOffer({ method, url, httpVersion, rawHeaders }: IncomingMessage): Buffer {
  const lines = [`${method} ${url} HTTP/${httpVersion}`];
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? '';
    const value = withoutOffer(name.toLowerCase(), rawHeaders[index + 1] ?? '');
    if (value !== undefined) lines.push(`${name}: ${value}`);
  }
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
}

function withoutOffer(name: string, value: string): string | undefined {
  if (OFFER_HEADERS.has(name)) return undefined;
  if (name !== 'connection') return value;
  const options = value.split(',').map((option) => option.trim());
  const left = options.filter((option) => option !== '' && !OFFER_HEADERS.has(option.toLowerCase()));
  return left.length === 0 ? undefined : left.join(', ');
}
