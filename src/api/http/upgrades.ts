/**
 * Sorts what Node calls an upgrade. Its HTTP server, once somebody listens for WebSockets, hands over every request
 * with an `Upgrade` header, body unread, also those that only offer one: Java's HTTP client offers `h2c` with every
 * plain request. RFC 9110 (7.8) says to ignore what is not wanted: those requests are put back on their connection
 * without the offer, and answered like any other.
 */
import { type IncomingMessage, type Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { hasBody } from './request-guard.js';

/** The first Node that hands over the body of such a request as a stream, not as the bytes that follow. */
const FIRST_WITH_BODY_STREAMS = 26;
const OFFER_HEADERS: ReadonlySet<string> = new Set(['upgrade', 'http2-settings']);

export interface UpgradesOptions {
  readonly server: Server;
  /** Hears `upgrade` for WebSockets only; never listens on a port. */
  readonly sockets: Server;
  /** Patterns of the socket endpoints, as the router has them: `/api/instances/:id/live-log`. */
  readonly patterns: readonly string[];
}

export class Upgrades {
  readonly #server: Server;
  readonly #sockets: Server;
  readonly #paths: readonly RegExp[];
  readonly #handshakes = new WeakSet<IncomingMessage>();
  /** Connections that no parser of Node's server has: it does not close them either. */
  readonly #held = new Map<Socket, () => void>();

  constructor({ server, sockets, patterns }: UpgradesOptions) {
    this.#server = server;
    this.#sockets = sockets;
    this.#paths = patterns.map(
      (pattern) => new RegExp(`^${pattern.replaceAll('.', '\\.').replaceAll(/:\w+/g, '[^/?]+')}/?(?:\\?|$)`),
    );
    const [major] = process.versions.node.split('.', 1);
    if (Number(major) >= FIRST_WITH_BODY_STREAMS) {
      // Such a Node can be told to ignore an offer itself. It then forgets what is pipelined behind the request, so
      // that this is only for those with a body.
      Object.assign(server, { shouldUpgradeCallback: (request: IncomingMessage) => !hasBody(request) });
    }
    server.on('upgrade', (request, socket, rest) => this.#onUpgrade(request, socket, rest));
  }

  /**
   * Called for each request before it is answered. After an answer to a handshake nothing else can be said on its
   * connection: no parser reads it any more.
   */
  readonly closeAfterAnswer = ({ raw }: FastifyRequest, reply: FastifyReply): void => {
    if (!this.#handshakes.has(raw)) return;
    reply.header('connection', 'close');
    reply.raw.once('finish', () => raw.socket.destroySoon());
  };

  /** Ends what the server's own `closeAllConnections` does not know. */
  closeAll(): void {
    for (const connection of this.#held.keys()) connection.destroy();
  }

  #onUpgrade(request: IncomingMessage, socket: Duplex, rest: Buffer): void {
    const connection = request.socket;
    const isHandshake = this.#isHandshake(request);
    this.#hold(connection);
    if (!isHandshake) socket.unshift(Buffer.concat([headWithoutOffer(request), rest]));
    const next = isHandshake
      ? (): void => this.#handOver(request, socket, rest)
      : (): void => this.#putBack(connection);
    // Never inside the parser's own call; and pipelined requests before this one have the connection until their end.
    setImmediate(() => this.#afterAnswersBefore(connection, next));
  }

  #hold(connection: Socket): void {
    const forget = (): void => {
      this.#held.delete(connection);
    };
    this.#held.set(connection, forget);
    connection.once('close', forget);
    // Node has taken its own listener off.
    connection.on('error', destroy);
  }

  #afterAnswersBefore(connection: Socket, next: () => void): void {
    if (connection.destroyed) return;
    const before = currentAnswer(connection);
    if (before === undefined) next();
    else before.once('close', () => setImmediate(() => this.#afterAnswersBefore(connection, next)));
  }

  #putBack(connection: Socket): void {
    const forget = this.#held.get(connection);
    if (forget !== undefined) connection.off('close', forget);
    this.#held.delete(connection);
    connection.off('error', destroy);
    this.#server.emit('connection', connection);
  }

  #handOver(request: IncomingMessage, socket: Duplex, rest: Buffer): void {
    request.socket.off('error', destroy).setTimeout(0);
    this.#handshakes.add(request);
    this.#sockets.emit('upgrade', request, socket, rest);
  }

  /** Only what may become a WebSocket; all else, even if it asks for one, is a plain request with a plain answer. */
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

function destroy(this: Socket): void {
  this.destroy();
}

/** The answer that a connection is taken by; Node keeps it there for its own pipelining. */
function currentAnswer(connection: Socket): ServerResponse | undefined {
  if (!('_httpMessage' in connection)) return undefined;
  const { _httpMessage: answer } = connection;
  return answer instanceof ServerResponse ? answer : undefined;
}

/** The bytes of the request's head as they came, but for the offer: Node's parser has seen each of them already. */
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
