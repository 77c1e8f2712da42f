/**
 * The address of the client of a forwarded request. The follower sends it in a special header; the leader believes that
 * header only on tunnels, which only masters can open.
 */
import type { IncomingMessage } from 'node:http';
import { isIP, type Socket } from 'node:net';
import type { FastifyRequest } from 'fastify';
import { OpenCount } from './open-count.js';

const CLIENT_HEADER = 'drover-client-address';

/** How long the other side may take to read the last answer. */
const LINGER_MS = 2000;

/**
 * Closes a connection late. Node would close it while bytes of a body are unread, and the other side could then lose
 * the answer.
 */
function closeLate(connection: Socket): void {
  connection.end();
  connection.resume();
  const timer = setTimeout(() => connection.destroy(), LINGER_MS).unref();
  connection.once('close', () => clearTimeout(timer));
}

/** Headers that belong to one connection, and not to the request on it. */
const OF_CONNECTION: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'expect',
  // Trailers are not passed on, and Node throws at a request that announces them without a body.
  'trailer',
]);

/** The API connections that came through the cluster port of this master. */
export class Tunnels {
  /** The count of open tunnels. */
  readonly open = new OpenCount();
  readonly #connections = new WeakSet<Socket>();

  add(connection: Socket): void {
    this.#connections.add(connection);
    this.open.add(connection);
    connection.destroySoon = () => closeLate(connection);
  }

  has({ socket }: Pick<IncomingMessage, 'socket'>): boolean {
    return this.#connections.has(socket);
  }

  /** Gives a forwarded request the address of its client. */
  identify(request: FastifyRequest): void {
    if (!this.has(request.raw)) return;
    const said = request.headers[CLIENT_HEADER];
    if (typeof said === 'string' && isIP(said) !== 0) Object.defineProperty(request, 'ip', { value: said });
  }
}

/**
 * The headers of a request for the leader, in their order: names and values in turn. `isUpgrade`: includes the headers
 * about the connection.
 */
export function headersFor({ rawHeaders, socket }: IncomingMessage, isUpgrade: boolean): string[] {
  const headers: string[] = [];
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? '';
    const isLeftOut = name.toLowerCase() === CLIENT_HEADER || (!isUpgrade && isOfConnection(name));
    if (!isLeftOut) headers.push(name, rawHeaders[index + 1] ?? '');
  }
  return [...headers, CLIENT_HEADER, socket.remoteAddress ?? ''];
}

/** True when a header is about the connection that it came on. */
export function isOfConnection(name: string): boolean {
  return OF_CONNECTION.has(name.toLowerCase());
}
