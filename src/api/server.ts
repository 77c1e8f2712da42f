/**
 * The HTTP server of the master: its limits, the gate at its root, and all routes and sockets. It decides nothing: the
 * master passes in the data that it serves (`ApiDependencies`), builds it and starts it.
 */

import { createServer } from 'node:http';
import type { TLSSocket } from 'node:tls';
import { type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from 'fastify';
import type { Access } from '../access/access.js';
import { SignInCodes } from '../access/sign-in-codes.js';
import type { Part } from '../loop/lifecycle.js';
import { attachSocket } from './attach/attach-socket.js';
import { dashboardRoutes } from './dashboard/dashboard-routes.js';
import type { ApiDependencies, RouteNeeds } from './dependencies.js';
import { Tunnels } from './forward/client-address.js';
import { Forwarder, type ForwarderNeeds } from './forward/forwarder.js';
import { OwnRoutes } from './forward/own-routes.js';
import { LEADER_GONE } from './forward/socket-relay.js';
import { auditWrites } from './gate/audit.js';
import { Gate, requireScope } from './gate/auth.js';
import { withMeantName } from './gate/meant-name.js';
import { ignoreExpectations, requireHost } from './http/bare-requests.js';
import { listenAtApiPort } from './http/bind-address.js';
import { replyWithError } from './http/error-reply.js';
import { type Endpoint, refuseUnknown } from './http/other-methods.js';
import { leaveBodies, requirePlainBody, takeJsonBodies } from './http/request-bodies.js';
import type { Method, Route } from './http/route.js';
import { limitBodies, limitHandlers } from './http/time-limits.js';
import { requestsEventOf, Upgrades } from './http/upgrades.js';
import { liveLogSocket } from './live-log/live-log-socket.js';
import { LiveLogs } from './live-log/live-logs.js';
import { docsRoutes, openApiRoute } from './openapi/docs-routes.js';
import { apiRoutes } from './routes/api-routes.js';
import { InstanceView } from './routes/instances/instance-view.js';
import { consoleSocket } from './sockets/console-socket.js';
import type { SocketDescription } from './sockets/socket.js';
import { SocketBook, type SocketLimits } from './sockets/socket-book.js';
import { registerSockets } from './sockets/socket-plugin.js';
import { defineSocketRoute, type SocketRoute } from './sockets/socket-route.js';
import { MAX_HEADER_BYTES, makeTransport, type Transport, type TransportLimits } from './tls/transport.js';
import type { WaitingApi } from './waiting-api.js';
import { watchSocket } from './watch/watch-socket.js';
import { Watchers } from './watch/watchers.js';

const PREFIX = '/api';
const KIB = 1024;
const MAX_BODY_BYTES = KIB * KIB;
/** How long running requests may take when the server stops. */
const DRAIN_MS = 5000;
const DRAIN_CHECK_MS = 20;

export interface ApiLimits extends TransportLimits {
  /** How long the body of a request may take to arrive, unless its route takes it as a stream. Default 60 s. */
  readonly requestMs: number;
  /** How long a handler may wait before it is given up. Default 60 s. */
  readonly handlerMs: number;
  /** How long a body that is taken as a stream may pause. Default 30 s. */
  readonly uploadIdleMs: number;
  readonly sockets: Partial<SocketLimits>;
}

export interface ApiServerOptions {
  readonly dependencies: ApiDependencies;
  /** Forwards requests to the leader. Absent: this is the only master. */
  readonly forwarding?: ForwarderNeeds;
  readonly limits?: Partial<ApiLimits>;
  /** Listens at the port already, and hands it over. Absent: nothing listens there. */
  readonly before?: Pick<WaitingApi, 'handOverTo'> | undefined;
}

/** A request that this process sends to its own API. */
export interface OwnRequest {
  readonly method: Method;
  /** Below `/api`, with its query. */
  readonly path: string;
  /** A JSON value. */
  readonly body?: object;
  readonly headers?: Readonly<Record<string, string>>;
  /** The address of the client that typed the command; null: the node's own terminal. */
  readonly address: string | null;
}

export interface OwnAnswer {
  readonly status: number;
  /** Parsed JSON; undefined: the answer has no body. */
  readonly body: unknown;
}

/** The address and port that the server listens on. */
interface ListenAddress {
  readonly host: string;
  readonly port: number;
}

export class ApiServer implements Part {
  readonly #options: ApiServerOptions;
  readonly #sockets: SocketBook;
  /** Passes the handshakes of WebSockets on to the plugin. This server never listens. */
  readonly #handshakes = createServer();
  readonly #upgrades: Upgrades;
  readonly #gate: Gate;
  readonly #codes: SignInCodes;
  readonly #view: InstanceView;
  readonly #liveLogs: LiveLogs;
  readonly #watchers: Watchers;
  readonly #transport: Transport;
  readonly #tunnels = new Tunnels();
  /** Forwards requests to the leader; undefined: this is the only master. */
  readonly forwarder: Forwarder | undefined;
  readonly #server: FastifyInstance;
  readonly #routes: readonly Route[];
  readonly #socketRoutes: readonly SocketRoute[];
  #address: ListenAddress | undefined;
  #stopping: Promise<void> | undefined;

  constructor(options: ApiServerOptions) {
    const { dependencies, limits } = options;
    const { clock } = dependencies;
    this.#options = options;
    this.#sockets = new SocketBook(clock, limits?.sockets);
    dependencies.metrics.addApiSockets(() => this.#sockets.size);
    this.#gate = new Gate(dependencies);
    this.#codes = new SignInCodes(clock);
    this.#view = new InstanceView(dependencies);
    this.#liveLogs = new LiveLogs(dependencies);
    this.#watchers = new Watchers(dependencies, this.#liveLogs, this.#view);
    this.#routes = [...apiRoutes(dependencies), openApiRoute(() => this.describe())];
    this.#socketRoutes = [
      defineSocketRoute(consoleSocket(dependencies)),
      defineSocketRoute(liveLogSocket(dependencies, this.#liveLogs, this.#view)),
      defineSocketRoute(watchSocket(this.#watchers)),
      defineSocketRoute(attachSocket(dependencies, this.#view)),
    ];
    this.#transport = makeTransport(dependencies, limits ?? {});
    this.#server = this.#build();
    this.forwarder = this.#makeForwarder();
    const patterns = this.#socketRoutes.map(({ path }) => PREFIX + path);
    this.#upgrades = new Upgrades({
      server: this.#server.server,
      sockets: this.#handshakes,
      patterns,
      ...(this.forwarder !== undefined && { before: this.forwarder.upgrade }),
    });
  }

  /** The routes under `/api`. */
  get routes(): readonly Route[] {
    return this.#routes;
  }

  /** The WebSocket endpoints under `/api`. */
  get sockets(): readonly SocketDescription[] {
    return this.#socketRoutes;
  }

  /** The OpenAPI document, made anew. The code for it loads with the first call. */
  async describe(): Promise<string> {
    const { describeApi } = await import('./openapi/document.js');
    return describeApi({ routes: this.#routes, sockets: this.sockets });
  }

  /** The address; undefined while the server does not listen. */
  get address(): ListenAddress | undefined {
    return this.#address;
  }

  /** Takes a connection that another master made through the cluster port, to forward requests of its clients. */
  takeTunnel(connection: TLSSocket): void {
    this.#tunnels.add(connection);
    this.#transport.connections.welcome(connection);
    this.#server.server.emit(requestsEventOf(this.#server.server), connection);
  }

  /** Answers a request of a command of the console, without a connection. Its caller may do everything. */
  ask(caller: Access, { method, path, body, headers, address }: OwnRequest): Promise<OwnAnswer> {
    return this.#gate.pass(caller, async (authorization) => {
      const { statusCode: status, payload } = await this.#server.inject({
        method,
        url: PREFIX + path,
        headers: { ...headers, authorization },
        ...(address !== null && { remoteAddress: address }),
        ...(body !== undefined && { payload: body }),
      });
      return { status, body: payload === '' ? undefined : JSON.parse(payload) };
    });
  }

  /** Sends a request without a connection, for tests. */
  get inject(): FastifyInstance['inject'] {
    return this.#server.inject.bind(this.#server);
  }

  /**
   * Begins to listen. Throws DRV_NODE_PORT_IN_USE, or DRV_NODE_CONFIG_INVALID for an address that this machine does not
   * have.
   */
  async start(): Promise<void> {
    const { before, dependencies } = this.#options;
    const { server } = this.#server;
    await this.#server.ready();
    const host =
      (await before?.handOverTo(server)) ?? (await listenAtApiPort(server, dependencies.configuration));
    const address = server.address();
    if (address !== null && typeof address === 'object') this.#address = { host, port: address.port };
  }

  /** Stops the server. Running requests may end within 5 s; idle connections are closed. Idempotent. */
  stop(): Promise<void> {
    this.#stopping ??= this.#drain();
    return this.#stopping;
  }

  async #drain(): Promise<void> {
    const http = this.#server.server;
    const deadline = performance.now() + DRAIN_MS;
    // Node closes the connections that are idle now. This loop closes connections that become idle later.
    const check = setInterval(() => {
      if (performance.now() < deadline) {
        http.closeIdleConnections();
        this.#transport.closeWaiting();
        return;
      }
      http.closeAllConnections();
      this.#upgrades.closeAll();
    }, DRAIN_CHECK_MS);
    // Fastify closes only a server that it has made to listen itself.
    const closed = new Promise((resolve) => http.close(resolve));
    try {
      await Promise.all([this.#sockets.stop(), this.#server.close(), closed]);
    } finally {
      clearInterval(check);
      this.#address = undefined;
      this.forwarder?.stop();
      this.#codes.close();
      await this.#gate.close();
      this.#liveLogs.close();
      this.#watchers.close();
      this.#view.close();
    }
  }

  #build(): FastifyInstance {
    const server = fastify({
      logger: false,
      bodyLimit: MAX_BODY_BYTES,
      ...this.#transport.options,
      // Long ids reach the handlers, which explain the fault; the header limit bounds them. Existing plugins put a
      // slash at the end of a path.
      routerOptions: { maxParamLength: MAX_HEADER_BYTES, ignoreTrailingSlash: true },
      // Routes check with zod and write their own bytes. The default compilers would load 800 KB without use.
      schemaController: { compilersFactory: { buildValidator: noSchemas, buildSerializer: noSchemas } },
      frameworkErrors: (error, request, reply) => {
        this.#upgrades.closeAfterAnswer(request, reply);
        this.#tunnels.identify(request);
        if (this.#gate.admit(request, reply, {})) this.#fail(error, request, reply);
      },
    });
    this.#transport.connections.follow(server.server);
    ignoreExpectations(server.server);
    this.#addHooks(server);
    server.setErrorHandler((error, request, reply) => this.#fail(error, request, reply));
    const pages = [...docsRoutes(), ...dashboardRoutes(this.#options.dependencies)];
    server.setNotFoundHandler(refuseUnknown([...pages, ...this.#endpoints()]));
    leaveBodies(server);
    for (const route of pages) route.register(server, this.#needs);
    server.register(async (api) => this.#register(api), { prefix: PREFIX });
    return server;
  }

  #makeForwarder(): Forwarder | undefined {
    const { forwarding, dependencies } = this.#options;
    if (forwarding === undefined) return undefined;
    const { configuration, clock, isReady } = dependencies;
    const forwarder = new Forwarder({
      ...forwarding,
      nodeId: configuration.nodeId,
      isReady,
      clock,
      routes: new OwnRoutes(this.#routes.map((route) => ({ ...route, path: PREFIX + route.path }))),
      identify: (request, isSocket) => {
        const actor = this.#gate.callerOf(request, isSocket);
        this.#transport.connections.note({ actor, raw: request });
        return actor;
      },
      tunnels: this.#tunnels,
      onLeft: () => void this.#sockets.closeAll(LEADER_GONE),
    });
    forwarder.standBefore(this.#server.server);
    return forwarder;
  }

  #addHooks(server: FastifyInstance): void {
    const { dependencies, limits } = this.#options;
    const { requestMs = 60_000, handlerMs = 60_000, uploadIdleMs = 30_000 } = limits ?? {};
    const limitBody = limitBodies(requestMs);
    server.decorateRequest('actor', null);
    server.decorateRequest('subject', null);
    server.decorateRequest('isRoutine', false);
    server.decorateRequest('isOwn', false);
    server.addHook('onRoute', requireScope);
    server.addHook('onRoute', auditWrites(dependencies.audit));
    server.decorate('uploadLimits', {
      maxBytes: dependencies.configuration.maxUploadMB * KIB * KIB,
      idleMs: uploadIdleMs,
    });
    server.decorate('limited', limitHandlers(handlerMs));
    // A single hook, because each further hook would take a share of every request.
    server.addHook('onRequest', (request, reply, done) => {
      const { config } = request.routeOptions;
      this.#upgrades.closeAfterAnswer(request, reply);
      this.#tunnels.identify(request);
      limitBody(request, reply);
      requireHost(request.raw);
      if (!this.#gate.admit(request, reply, config)) return;
      this.#transport.connections.note(request);
      requirePlainBody(request);
      done();
    });
  }

  #register(api: FastifyInstance): void {
    // The routes that take JSON have a context of their own, because its parser belongs to the context.
    api.register((child, _options, done) => {
      takeJsonBodies(child);
      for (const route of this.#routes) if (route.body !== undefined) route.register(child, this.#needs);
      done();
    });
    for (const route of this.#routes) if (route.body === undefined) route.register(api, this.#needs);
    const { logger } = this.#options.dependencies;
    api.register((child, _options, done) => {
      registerSockets(child, {
        upgrades: this.#handshakes,
        routes: this.#socketRoutes,
        book: this.#sockets,
        logger,
      });
      done();
    });
  }

  get #needs(): RouteNeeds {
    const { dependencies } = this.#options;
    return { ...dependencies, view: this.#view, codes: this.#codes, gate: this.#gate };
  }

  /** All endpoints under `/api`, with that prefix. */
  #endpoints(): Endpoint[] {
    const sockets = this.#socketRoutes.map(({ path }) => ({ path, method: 'GET' as const }));
    return [...this.#routes, ...sockets].map(({ path, method }) => ({ path: PREFIX + path, method }));
  }

  #fail(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
    const { dependencies } = this.#options;
    const told = withMeantName(error, request.actor, dependencies);
    replyWithError(told, request, reply, dependencies.logger);
  }
}

/** Fails for a route that brings a schema for Fastify. */
function noSchemas(): never {
  throw new Error('routes describe themselves in zod: Fastify gets no schema');
}
