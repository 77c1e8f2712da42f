/**
 * Registers the WebSocket plugin with Drover's limits, in a context of its own, so that plain routes do not pay for it.
 */
import type { Server } from 'node:http';
import websocket from '@fastify/websocket';
import type { FastifyInstance } from 'fastify';
import { messageOf } from '../../model/errors.js';
import type { Logger } from '../../telemetry/logger.js';
import { selectableProtocols } from '../gate/credentials.js';
import { CLOSE } from './socket.js';
import type { SocketBook } from './socket-book.js';
import type { SocketRoute } from './socket-route.js';

const KIB = 1024;
const LIMITS = {
  maxPayload: 64 * KIB,
  maxFragments: 128,
  /**
   * How many pieces an unfinished frame may have: enough for the smallest network packets, too few for pieces of one
   * byte.
   */
  maxBufferedChunks: KIB,
  perMessageDeflate: false,
  /** Off, because `OpenSocket` answers pings itself, and only while the client reads. */
  autoPong: false,
  /** How long a client may take to answer a close. Before that, it may have to read much waiting data. */
  closeTimeout: 10_000,
};

interface SocketPluginOptions {
  /** Gets the `upgrade` events of WebSocket handshakes. */
  readonly upgrades: Server;
  readonly routes: readonly SocketRoute[];
  readonly book: SocketBook;
  readonly logger: Logger;
}

/** `server` gets the plugin and the socket routes; it must have no other routes. */
export function registerSockets(
  server: FastifyInstance,
  { upgrades, routes, book, logger }: SocketPluginOptions,
): void {
  server.register(websocket, {
    options: {
      ...LIMITS,
      server: upgrades,
      handleProtocols: (offered) => selectableProtocols(offered)[0] ?? false,
    },
    errorHandler: (error, socket) => {
      // An error with a code is the client's fault, and the library already closes the socket for it.
      if ('code' in error) return;
      logger.error({ err: error }, `a WebSocket endpoint failed: ${messageOf(error)}`);
      socket.close(CLOSE.fault, 'unexpected fault of the server');
    },
    // The plugin has nothing to close: the socket book closes all sockets, with a reason.
    preClose: (done) => done(),
  });
  // Register the socket routes after the plugin, which wraps only later routes.
  server.register((child, _options, done) => {
    for (const route of routes) route.register(child, book);
    done();
  });
}
