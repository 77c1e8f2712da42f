/**
 * The address of a client that a follower forwards. The follower says it in a header of its own; the leader believes
 * that header on tunnels alone, which only masters can open.
 */
import type { IncomingMessage } from 'node:http';
import { isIP, type Socket } from 'node:net';
import type { FastifyRequest } from 'fastify';

export const CLIENT_HEADER = 'drover-client-address';

/** Headers that belong to one connection, and not to the request on it. */
const OF_CONNECTION: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'expect',
]);

/** The connections of the API that came through the cluster port of this master. */
export class Tunnels {
  readonly #connections = new WeakSet<Socket>();

  add(connection: Socket): void {
    this.#connections.add(connection);
  }

  has({ socket }: Pick<IncomingMessage, 'socket'>): boolean {
    return this.#connections.has(socket);
  }

  /** Lets the address of a forwarded request be its client's. */
  identify(request: FastifyRequest): void {
    if (!this.has(request.raw)) return;
    const said = request.headers[CLIENT_HEADER];
    if (typeof said === 'string' && isIP(said) !== 0) Object.defineProperty(request, 'ip', { value: said });
  }
}

/**
 * The headers of a request as they go to the leader, in their order: names and values in turn. `isUpgrade`: those of
 * the connection go with them.
 */
export function headersFor(
  request: IncomingMessage,
  { isUpgrade }: { readonly isUpgrade: boolean },
): string[] {
  const { rawHeaders, socket } = request;
  const own = isUpgrade ? rawHeaders : withoutConnection(rawHeaders);
  return [...without(own, (name) => name === CLIENT_HEADER), CLIENT_HEADER, socket.remoteAddress ?? ''];
}

/** Names and values in turn, without those of the connection that they came on. */
export function withoutConnection(rawHeaders: readonly string[]): string[] {
  return without(rawHeaders, (name) => OF_CONNECTION.has(name));
}

function without(rawHeaders: readonly string[], isLeftOut: (name: string) => boolean): string[] {
  const left: string[] = [];
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? '';
    if (!isLeftOut(name.toLowerCase())) left.push(name, rawHeaders[index + 1] ?? '');
  }
  return left;
}
