/**
 * Listens on the port of the API while the master has no state yet, such as while etcd is away. It answers `/api/ping`,
 * and 503 with the reason to everything else. `ApiServer` takes the port when the state is there.
 */
import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { Part } from '../loop/lifecycle.js';
import type { ErrorCode } from '../model/errors.js';
import type { NodeConfiguration } from '../model/node.js';
import { apiListenError, bindAddressOf } from './http/bind-address.js';
import { JSON_TYPE } from './http/json-reply.js';
import { pingAnswer } from './routes/node-routes.js';
import { TLS_VERSIONS } from './tls/tls-versions.js';

const PING = /^\/api\/ping\/?(?:\?|$)/;
const RETRY_AFTER_S = '1';
const NOT_READY: ErrorCode = 'DRV_NOT_READY';
/** Connections are short and few, because this server has no limits for single clients. */
const LIMITS = { headersTimeout: 10_000, requestTimeout: 10_000 };
const MOST_CONNECTIONS = 512;

export class WaitingApi implements Part {
  readonly #configuration: NodeConfiguration;
  readonly #server: Server;

  /**
   * `pair`: the certificate and its key as PEM; undefined: no TLS. `reason`: why the master waits, for a person; called
   * at each request.
   */
  constructor(
    configuration: NodeConfiguration,
    pair: { readonly key: string; readonly certificate: string } | undefined,
    reason: () => string,
  ) {
    this.#configuration = configuration;
    const answer: RequestListener = (request, response) => {
      const isPing = PING.test(request.url ?? '');
      const body = isPing ? pingAnswer(configuration, null) : { error: reason(), code: NOT_READY };
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
  }

  /** Begins to listen. Throws like `ApiServer`. */
  async start(): Promise<void> {
    const { apiPort: port } = this.#configuration;
    const host = await bindAddressOf(this.#configuration);
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', (error) => reject(apiListenError(error, host, port)));
      this.#server.listen({ host, port }, resolve);
    });
  }

  /** Resolves when the port is free. Idempotent. */
  async stop(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#server.close(() => resolve());
      this.#server.closeAllConnections();
    });
  }
}
