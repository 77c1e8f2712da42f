/** The WebSocket plugin with our limits, in a context of its own: plain routes do not pay for it. */
import type { Server } from 'node:http';
import websocket from '@fastify/websocket';
import type { FastifyInstance } from 'fastify';
import { messageOf } from '../../model/errors.js';
import type { Logger } from '../../telemetry/logger.js';
import { selectableProtocols } from '../access/socket-protocols.js';
import { CLOSE } from './open-socket.js';
import type { SocketBook } from './socket-book.js';
import type { SocketRoute } from './socket-route.js';

const KIB = 1024;
const LIMITS = {
  maxPayload: 64 * KIB,
  maxFragments: 128,
  /** Pieces of one unfinished frame: enough for the smallest packets there are, not for a byte in each. */
  maxBufferedChunks: KIB,
  perMessageDeflate: false,
  /** Answered by `OpenSocket`, which looks at how much the client reads. */
  autoPong: false,
  /** Time for a client to answer a close; it may have much to read before that. */
  closeTimeout: 10_000,
};

export interface SocketPluginOptions {
  /** Hears `upgrade` for what may become a WebSocket. */
  readonly upgrades: Server;
  readonly routes: readonly SocketRoute[];
  readonly book: SocketBook;
  readonly logger: Logger;
}

/** `server` becomes a context in which every route is expected to be a socket's. */
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
      // What a client did wrong has a code, and the library closes for it by itself.
      if ('code' in error) return;
      logger.error({ err: error }, `a WebSocket endpoint failed: ${messageOf(error)}`);
      socket.close(CLOSE.fault, 'unexpected fault of the server');
    },
    // The book closes them, with a reason.
    preClose: (done) => done(),
  });
  // In their turn: the plugin wraps only what is registered after it.
  server.register((child, _options, done) => {
    for (const route of routes) route.register(child, book);
    done();
  });
}
