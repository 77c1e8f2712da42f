/**
 * Listens on the port of the API while the master has no state yet, such as while etcd is away. It answers `/api/ping`,
 * and 503 with the reason to everything else. When the state is there, `ApiServer` takes over the listening socket, and
 * what still comes on older connections.
 */
import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { Part } from '../loop/lifecycle.js';
import type { ErrorCode } from '../model/errors.js';
import type { NodeConfiguration } from '../model/node.js';
import { HOSTLESS, ignoreExpectations } from './http/bare-requests.js';
import { listenAtApiPort } from './http/bind-address.js';
import { answerSocketError } from './http/error-reply.js';
import { JSON_TYPE } from './http/json-reply.js';
import { pingAnswer } from './routes/node-routes.js';
import { TLS_VERSIONS } from './tls/tls-versions.js';

const PING = /^\/api\/ping\/?(?:\?|$)/;
const RETRY_AFTER_S = '1';
const NOT_READY: ErrorCode = 'DRV_NOT_READY';
/** Connections are short and few, because this server has no limits for single clients. */
const LIMITS = { ...HOSTLESS, headersTimeout: 10_000, requestTimeout: 10_000 };
const MOST_CONNECTIONS = 512;

/** What is known while the master waits. Asked at each request. */
interface Wait {
  /** Why the master waits, for a person. */
  readonly reason: () => string;
  /** The node whose master leads; null: not known, or no master leads. */
  readonly leader: () => string | null;
}

export class WaitingApi implements Part {
  readonly #configuration: NodeConfiguration;
  readonly #server: Server;
  /** The server that has taken over. */
  #next: Server | undefined;

  /** `pair`: the certificate and its key as PEM; undefined: no TLS. */
  constructor(
    configuration: NodeConfiguration,
    pair: { readonly key: string; readonly certificate: string } | undefined,
    { reason, leader }: Wait,
  ) {
    this.#configuration = configuration;
    const answer: RequestListener = (request, response) => {
      if (this.#next?.emit('request', request, response) === true) return;
      const isPing = PING.test(request.url ?? '');
      const body = isPing ? pingAnswer(configuration, leader()) : { error: reason(), code: NOT_READY };
      const text = JSON.stringify(body);
      request.resume();
      response.writeHead(isPing ? 200 : 503, {
        'content-type': JSON_TYPE,
        'content-length': Buffer.byteLength(text),
        connection: 'close',
        ...(!isPing && { 'retry-after': RETRY_AFTER_S }),
      });
      response.end(text);
    };
    this.#server =
      pair === undefined
        ? createServer(LIMITS, answer)
        : createTlsServer({ ...LIMITS, ...TLS_VERSIONS, key: pair.key, cert: pair.certificate }, answer);
    this.#server.maxConnections = MOST_CONNECTIONS;
    ignoreExpectations(this.#server);
    this.#server.on('clientError', answerSocketError);
  }

  /** Begins to listen. Throws like `ApiServer`. */
  async start(): Promise<void> {
    await listenAtApiPort(this.#server, this.#configuration);
  }

  /** Makes `next` listen in its place, at the same socket. `next` also answers what comes on connections of this server. */
  async handOverTo(next: Server): Promise<string> {
    const host = await listenAtApiPort(next, this.#configuration, this.#server);
    this.#next = next;
    // The limits of the waiting master would end long uploads.
    this.#server.requestTimeout = 0;
    this.#server.on('upgrade', (...handshake) => next.emit('upgrade', ...handshake));
    return host;
  }

  /**
   * Ends all its connections. Frees the port, unless it was handed over; then the next server has stopped before.
   * Idempotent.
   */
  async stop(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#server.close(() => resolve());
      this.#server.closeAllConnections();
    });
  }
}
