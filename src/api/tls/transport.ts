/** The options of Fastify about connections, with TLS and without it: the limits are the same. */

import type { RequestListener, Server } from 'node:http';
import type { Socket } from 'node:net';
import { RepeatedLog } from '../../telemetry/repeated-log.js';
import type { ApiDependencies } from '../dependencies.js';
import { HOSTLESS } from '../http/bare-requests.js';
import { ConnectionLimit } from '../http/connection-limit.js';
import { answerSocketError, isTlsHello, type SocketError } from '../http/error-reply.js';
import { plainRequests } from './plain-requests.js';
import { TlsDoor } from './tls-door.js';

export const MAX_HEADER_BYTES = 16 * 1024;
const KEEP_ALIVE_MS = 72_000;
const TLS_WITHOUT =
  'a client speaks TLS to the API, which has none: let it use http://, or set apiTls in config.json';

export interface TransportLimits {
  /** How long the headers of a request, or a TLS handshake, may take. Default 10 s. */
  readonly headersMs: number;
  /** How long a connection may stand still because its client does not read, before it is closed. Default 180 s. */
  readonly silenceMs: number;
  /** The limit for connections. Default: half of the files that the process may open, 16,384 at most. */
  readonly connections: number;
}

export interface Transport {
  /** The options for Fastify. */
  readonly options: {
    readonly connectionTimeout: number;
    readonly keepAliveTimeout: number;
    readonly http: { readonly maxHeaderSize: number; readonly requireHostHeader: false };
    readonly clientErrorHandler: (error: SocketError, socket: Socket) => void;
    readonly serverFactory?: (onRequest: RequestListener) => Server;
  };
  readonly connections: ConnectionLimit;
  /** Closes connections that the server's own functions do not know. */
  readonly closeWaiting: () => void;
}

export function makeTransport(
  { apiCertificate: certificate, clock, logger }: ApiDependencies,
  { headersMs = 10_000, silenceMs = 180_000, connections: limit }: Partial<TransportLimits>,
): Transport {
  const log = new RepeatedLog(logger, clock);
  const connections = new ConnectionLimit({ limit, clock, logger });
  const http = {
    ...HOSTLESS,
    maxHeaderSize: MAX_HEADER_BYTES,
    headersTimeout: headersMs,
    connectionsCheckingInterval: Math.ceil(headersMs / 5),
  };
  const options = {
    connectionTimeout: silenceMs,
    keepAliveTimeout: KEEP_ALIVE_MS,
    http,
    clientErrorHandler: (error: SocketError, socket: Socket): void => {
      if (isTlsHello(error, socket)) log.say('TLS without TLS', TLS_WITHOUT);
      answerSocketError(error, socket);
    },
  };
  if (certificate === undefined) return { options, connections, closeWaiting: () => undefined };
  const takePlain = plainRequests(MAX_HEADER_BYTES, log);
  const door = new TlsDoor({ certificate, handshakeMs: headersMs, takePlain, connections });
  // Set all limits here, because Fastify sets none on a server that it did not make.
  const own = { ...http, keepAliveTimeout: KEEP_ALIVE_MS, requestTimeout: 0 };
  const serverFactory = (onRequest: RequestListener): Server =>
    door.makeServer(own, onRequest).setTimeout(silenceMs);
  return { options: { ...options, serverFactory }, connections, closeWaiting: () => door.closeWaiting() };
}
