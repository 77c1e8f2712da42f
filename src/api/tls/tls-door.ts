/**
 * The API's port with TLS. It looks at the first byte of each connection: TLS goes on to the HTTPS server, anything
 * else to `plainRequests`. Until its handshake is over, a connection has a time limit here, and the connection limit
 * counts it.
 */
import type { RequestListener } from 'node:http';
import { createServer, type Server, type ServerOptions } from 'node:https';
import { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { ApiCertificate } from '../../channel/trust/api-certificate.js';
import { connectionKey } from '../../loop/connection-key.js';
import type { ConnectionLimit } from '../http/connection-limit.js';
import { TLS_HANDSHAKE } from '../http/error-reply.js';
import { Deadlines } from '../http/time-limits.js';
import { TLS_VERSIONS } from './tls-versions.js';

interface TlsDoorOptions {
  readonly certificate: ApiCertificate;
  /** The limit from the connection to the end of its handshake, or of the answer to a plain request. */
  readonly handshakeMs: number;
  /** Told of each handshake that is over. */
  readonly connections: Pick<ConnectionLimit, 'noteSecure'>;
  /** Takes the connections that do not begin with TLS: `plainRequests`. */
  readonly takePlain: (connection: Socket) => void;
}

export class TlsDoor {
  readonly #options: TlsDoorOptions;
  readonly #deadlines: Deadlines<Socket>;
  /** The connections whose handshake is not over, by `connectionKey`. */
  readonly #waiting = new Map<string, Socket>();

  constructor(options: TlsDoorOptions) {
    this.#options = options;
    this.#deadlines = new Deadlines(options.handshakeMs, (connection) => connection.destroy());
  }

  /** Makes the HTTPS server, which does not listen yet. It takes each new certificate into use itself. */
  makeServer(options: ServerOptions, onRequest: RequestListener): Server {
    const { certificate, takePlain } = this.#options;
    const server = createServer(
      { ...options, ...contextOf(certificate), ALPNProtocols: ['http/1.1'] },
      onRequest,
    );
    certificate.onChange(() => server.setSecureContext(contextOf(certificate)));
    // Node's own listener begins the handshake. `#take` calls it later, when the first byte is known.
    const handshakes = server.listeners('connection');
    server.removeAllListeners('connection');
    server.on('connection', (connection) => {
      if (!(connection instanceof Socket)) return;
      this.#take(connection, (isTls) => {
        if (!isTls) takePlain(connection);
        else for (const begin of handshakes) Reflect.apply(begin, server, [connection]);
      });
    });
    server.on('secureConnection', (secure) => this.#onSecure(secure));
    return server;
  }

  /** Closes the connections that have not finished a handshake, which the server's own functions do not know. */
  closeWaiting(): void {
    for (const connection of this.#waiting.values()) connection.destroy();
  }

  #take(connection: Socket, onBegin: (isTls: boolean) => void): void {
    connection.on('error', destroy);
    const key = connectionKey(connection);
    this.#waiting.set(key, connection);
    this.#deadlines.add(connection);
    connection.once('close', () => this.#forget(key, connection));
    connection.once('data', (first: Buffer) => {
      connection.pause();
      connection.unshift(first);
      onBegin(first[0] === TLS_HANDSHAKE);
    });
  }

  #onSecure(secure: TLSSocket): void {
    const key = connectionKey(secure);
    const connection = this.#waiting.get(key);
    // Skip a connection that has been noted already. A connection comes here again after Drover has ignored its offer
    // of an upgrade.
    if (connection === undefined) return;
    this.#forget(key, connection);
    this.#options.connections.noteSecure(connection, secure);
  }

  #forget(key: string, connection: Socket): void {
    this.#deadlines.delete(connection);
    if (this.#waiting.get(key) === connection) this.#waiting.delete(key);
  }
}

function contextOf({ pair }: ApiCertificate) {
  return { ...TLS_VERSIONS, key: pair.key, cert: pair.certificate };
}

function destroy(this: Socket): void {
  this.destroy();
}
