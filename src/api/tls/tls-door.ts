/**
 * The API's port with TLS. It looks at the first byte of each connection: TLS goes on to the HTTPS server, anything
 * else to `PlainRequests`, which explains. Until its handshake is over a connection is bounded in time here, and in
 * number by the connection limit.
 */
import type { RequestListener } from 'node:http';
import { createServer, type Server, type ServerOptions } from 'node:https';
import { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { ApiCertificate } from '../../channel/trust/api-certificate.js';
import { connectionKey } from '../../loop/connection-key.js';
import type { ConnectionLimit } from '../http/connection-limit.js';
import { Deadlines } from '../http/deadlines.js';
import { TLS_HANDSHAKE } from '../http/error-reply.js';
import type { PlainRequests } from './plain-requests.js';
import { TLS_VERSIONS } from './tls-versions.js';

export interface TlsDoorOptions {
  readonly certificate: ApiCertificate;
  /** From the connection to the end of its handshake, or of a plain request's answer. */
  readonly handshakeMs: number;
  /** Hears of each handshake that is over. */
  readonly connections: Pick<ConnectionLimit, 'noteSecure'>;
  /** Takes what is no TLS. */
  readonly plain: PlainRequests;
}

export class TlsDoor {
  readonly #options: TlsDoorOptions;
  readonly #deadlines: Deadlines<Socket>;
  /** Connections without a handshake, by `connectionKey`. */
  readonly #waiting = new Map<string, Socket>();

  constructor(options: TlsDoorOptions) {
    this.#options = options;
    this.#deadlines = new Deadlines(options.handshakeMs, (connection) => connection.destroy());
  }

  /** Makes the HTTPS server, which does not listen yet. It takes up each change of the certificate by itself. */
  makeServer(options: ServerOptions, onRequest: RequestListener): Server {
    const { certificate, plain } = this.#options;
    const server = createServer(
      { ...options, ...contextOf(certificate), ALPNProtocols: ['http/1.1'] },
      onRequest,
    );
    certificate.onChange(() => server.setSecureContext(contextOf(certificate)));
    // Node's own listener begins the handshake. It waits until the first byte is known.
    const handshakes = server.listeners('connection');
    server.removeAllListeners('connection');
    server.on('connection', (connection) => {
      if (!(connection instanceof Socket)) return;
      this.#take(connection, (isTls) => {
        if (!isTls) plain.take(connection);
        else for (const begin of handshakes) Reflect.apply(begin, server, [connection]);
      });
    });
    server.on('secureConnection', (secure) => this.#onSecure(secure));
    return server;
  }

  /** Closes the connections that have not finished a handshake. The server's own functions do not know them. */
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
    // A connection whose offer of an upgrade was passed over comes a second time.
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
