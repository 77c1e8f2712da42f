/**
 * The HTTP server of the master: limits, the gate at its root, and the routes. It serves what the rest of the
 * master hands it (`ApiDependencies`) and decides nothing itself. Built and started by the master.
 */
import { type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from 'fastify';
import type { Clock } from '../loop/clock.js';
import type { Part } from '../loop/lifecycle.js';
import { DroverError, messageOf } from '../model/errors.js';
import { auditWrites } from './audit.js';
import { Gate, requireScope } from './auth.js';
import { bindAddressOf } from './bind-address.js';
import { configurationRoutes } from './configuration-routes.js';
import type { ApiDependencies } from './dependencies.js';
import { answerSocketError, replyWithError } from './error-reply.js';
import { instanceRoutes } from './instance-routes.js';
import { InstanceView } from './instance-view.js';
import { acceptJsonBodies } from './json-body.js';
import { sendError } from './json-reply.js';
import { nodeRoutes } from './node-routes.js';
import type { Route } from './route.js';

const PREFIX = '/api';
const KIB = 1024;
const MAX_HEADER_BYTES = 16 * KIB;
const MAX_BODY_BYTES = KIB * KIB;
const KEEP_ALIVE_MS = 72_000;
/** How long running requests may take to end when the server stops. */
const DRAIN_MS = 5000;
const DRAIN_CHECK_MS = 20;
const READ_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD']);

export interface ApiLimits {
  /** Time for the headers of a request to arrive. Default 10 s. */
  readonly headersMs: number;
  /** Time for a whole request to arrive. Default 60 s. */
  readonly requestMs: number;
}

export interface ApiServerOptions {
  readonly dependencies: ApiDependencies;
  readonly clock: Clock;
  readonly limits?: Partial<ApiLimits>;
}

/** Where the server really listens. */
export interface ListenAddress {
  readonly host: string;
  readonly port: number;
}

export class ApiServer implements Part {
  readonly #options: ApiServerOptions;
  readonly #gate: Gate;
  readonly #view: InstanceView;
  readonly #server: FastifyInstance;
  readonly #routes: readonly Route[];
  #address: ListenAddress | undefined;
  #stopping: Promise<void> | undefined;

  constructor(options: ApiServerOptions) {
    const { dependencies, clock } = options;
    this.#options = options;
    this.#gate = new Gate(dependencies, clock);
    this.#view = new InstanceView(dependencies);
    this.#routes = [
      ...nodeRoutes(dependencies),
      ...instanceRoutes({ dependencies, view: this.#view }),
      ...configurationRoutes(dependencies),
    ];
    this.#server = this.#build();
  }

  /** What the server offers, for its description (OpenAPI). */
  get routes(): readonly Route[] {
    return this.#routes;
  }

  /** Set while the server listens. */
  get address(): ListenAddress | undefined {
    return this.#address;
  }

  /** For requests without a socket, in tests. */
  get inject(): FastifyInstance['inject'] {
    return this.#server.inject.bind(this.#server);
  }

  /** Listens. Throws DRV_NODE_PORT_IN_USE, or DRV_NODE_CONFIG_INVALID for an address that is not this machine's. */
  async start(): Promise<void> {
    const { configuration } = this.#options.dependencies;
    const host = bindAddressOf(configuration);
    try {
      await this.#server.listen({ host, port: configuration.apiPort });
    } catch (error) {
      throw describeListenError(error, host, configuration.apiPort);
    }
    const address = this.#server.server.address();
    if (address !== null && typeof address === 'object') this.#address = { host, port: address.port };
  }

  /** Idempotent: running requests end, for 5 s at most; idle connections do not hold it up. */
  stop(): Promise<void> {
    this.#stopping ??= this.#drain();
    return this.#stopping;
  }

  async #drain(): Promise<void> {
    const http = this.#server.server;
    const deadline = performance.now() + DRAIN_MS;
    // Node closes connections that are idle now; those that fall idle later are ours to close.
    const check = setInterval(() => {
      if (performance.now() < deadline) http.closeIdleConnections();
      else http.closeAllConnections();
    }, DRAIN_CHECK_MS);
    try {
      await this.#server.close();
    } finally {
      clearInterval(check);
      this.#address = undefined;
      this.#gate.close();
      this.#view.close();
    }
  }

  #build(): FastifyInstance {
    const { dependencies, limits } = this.#options;
    const { headersMs = 10_000, requestMs = 60_000 } = limits ?? {};
    const server = fastify({
      logger: false,
      bodyLimit: MAX_BODY_BYTES,
      requestTimeout: requestMs,
      keepAliveTimeout: KEEP_ALIVE_MS,
      // Ids of any length reach the handler, which knows what to say; the headers bound them.
      routerOptions: { maxParamLength: MAX_HEADER_BYTES },
      http: {
        maxHeaderSize: MAX_HEADER_BYTES,
        headersTimeout: headersMs,
        connectionsCheckingInterval: Math.ceil(headersMs / 5),
      },
      clientErrorHandler: answerSocketError,
      frameworkErrors: (error, request, reply) => {
        if (this.#gate.admit(request, reply, undefined)) this.#fail(error, request, reply);
      },
    });
    server.decorateRequest('actor', null);
    server.decorateRequest('subject', null);
    server.addHook('onRoute', requireScope);
    server.addHook('onRoute', (route) => {
      const isRead = [route.method].flat().every((method) => READ_METHODS.has(method));
      if (!isRead) route.onResponse = auditWrites(dependencies.logger);
    });
    server.addHook('onRequest', this.#gate.onRequest);
    server.setErrorHandler((error, request, reply) => this.#fail(error, request, reply));
    server.setNotFoundHandler((_request, reply) => sendError(reply, 404, 'there is no such endpoint'));
    acceptJsonBodies(server);
    server.register(async (api) => this.#register(api), { prefix: PREFIX });
    return server;
  }

  #register(api: FastifyInstance): void {
    for (const route of this.#routes) route.register(api);
    refuseOtherMethods(api, this.#routes);
  }

  #fail(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
    replyWithError(error, request, reply, this.#options.dependencies.logger);
  }
}

/** 405 with `Allow` for what a known path does not do. Behind the gate like everything else. */
function refuseOtherMethods(api: FastifyInstance, routes: readonly Route[]): void {
  for (const url of new Set(routes.map(({ path }) => path))) {
    const offered = new Set<string>(routes.filter(({ path }) => path === url).map(({ method }) => method));
    if (offered.has('GET')) offered.add('HEAD');
    const allow = [...offered].join(', ');
    api.route({
      method: api.supportedMethods.filter((method) => !offered.has(method)),
      url,
      config: { scope: 'ALL' },
      handler: (_request, reply) => {
        reply.header('allow', allow);
        sendError(reply, 405, `this endpoint takes only ${allow}`);
      },
    });
  }
}

function describeListenError(cause: unknown, host: string, port: number): unknown {
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
  switch (code) {
    case 'EADDRINUSE':
      return new DroverError(
        'DRV_NODE_PORT_IN_USE',
        `the API cannot listen: port ${port} on ${host} is in use; stop what holds it or set another apiPort in config.json`,
        { cause },
      );
    case 'EACCES':
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return new DroverError(
        'DRV_NODE_CONFIG_INVALID',
        `the API cannot listen on ${host}, port ${port} (${messageOf(cause)}): check bindAddress and apiPort in config.json`,
        { cause },
      );
    default:
      return cause;
  }
}
