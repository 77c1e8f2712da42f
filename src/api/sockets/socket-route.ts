/**
 * Registers a `SocketSpec` on the server. The upgrade comes last, so that an earlier refusal is an ordinary HTTP
 * answer.
 */
import type { IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { WebSocket } from 'ws';
import { invalidRequest } from '../../model/errors.js';
import { accessOf } from '../gate/auth.js';
import { offeredProtocols, selectableProtocols } from '../gate/credentials.js';
import { sendError } from '../http/json-reply.js';
import { callReader } from '../http/route.js';
import { LineStream } from './line-stream.js';
import { OpenSocket } from './open-socket.js';
import type { ApiSocket, SocketCall, SocketDescription, SocketSpec } from './socket.js';
import type { SocketBook } from './socket-book.js';

const VERSION = '13';
const KEY = /^[A-Za-z0-9+/]{22}==$/;
const PROTOCOL = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

type Run = (socket: ApiSocket) => void;

export interface SocketRoute extends SocketDescription {
  /** Registers the endpoint on a server that has the WebSocket plugin. Called once. */
  register(server: FastifyInstance, book: SocketBook): void;
}

/** Binds a socket endpoint to its schemas and hides their types, like `defineRoute`. */
export function defineSocketRoute<P, Q>(spec: SocketSpec<P, Q>): SocketRoute {
  if (spec.scope === 'open' || spec.scope === 'instance-or-OPERATE')
    throw new Error(`socket ${spec.path} must ask for a key`);
  const checked: Checked<P, Q> = { spec, callOf: callReader(spec) };
  const register = (server: FastifyInstance, book: SocketBook): void => {
    const runs = new WeakMap<IncomingMessage, Run>();
    server.route({
      method: 'GET',
      url: spec.path,
      config: { scope: spec.scope, ...(spec.reach !== undefined && { reach: spec.reach }), socket: true },
      preHandler: async (request, reply) => {
        if (request.ws) runs.set(request.raw, await prepare(checked, book, { request, reply }));
      },
      handler: (request, reply) => answerPlain(checked, book, { request, reply }),
      wsHandler: (websocket, request) => start(websocket, request, { book, run: runs.get(request.raw) }),
    });
  };
  return { ...spec, register };
}

interface Checked<P, Q> {
  readonly spec: SocketSpec<P, Q>;
  readonly callOf: (request: FastifyRequest) => SocketCall<P, Q>;
}

interface Exchange {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

async function prepare<P, Q>(
  { spec, callOf }: Checked<P, Q>,
  book: SocketBook,
  { request, reply }: Exchange,
): Promise<Run> {
  checkHandshake(request.raw, reply);
  const call = callOf(request);
  reserve(book, request);
  return await spec.open(call);
}

/** Answers a request that asks for no upgrade. A stream of lines takes a place among the sockets. */
async function answerPlain<P, Q>(
  { spec, callOf }: Checked<P, Q>,
  book: SocketBook,
  { request, reply }: Exchange,
): Promise<void> {
  if (spec.lines === undefined) {
    reply.header('upgrade', 'websocket');
    sendError(reply, 'DRV_UPGRADE_REQUIRED', 'this endpoint is a WebSocket: send an upgrade request');
    return;
  }
  const { contentType, open } = spec.lines;
  const run = await open(callOf(request));
  reserve(book, request);
  const stream = new LineStream(reply, contentType);
  book.opened(request.raw.socket, stream);
  run(stream);
}

function reserve(book: SocketBook, request: FastifyRequest): void {
  const access = accessOf(request);
  if (access !== undefined) book.reserve(access, request.raw.socket);
}

/** Checks the handshake before the library does: the library would refuse later and in its own words. */
function checkHandshake({ headers }: IncomingMessage, reply: FastifyReply): void {
  if (headers['sec-websocket-version'] !== VERSION) {
    reply.header('sec-websocket-version', VERSION);
    throw invalidRequest(`Sec-WebSocket-Version must be ${VERSION}`);
  }
  if (!KEY.test(headers['sec-websocket-key'] ?? ''))
    throw invalidRequest('Sec-WebSocket-Key must be 16 bytes in base64');
  const offered = offeredProtocols(headers['sec-websocket-protocol']);
  if (!offered.every((protocol) => PROTOCOL.test(protocol)) || new Set(offered).size < offered.length)
    throw invalidRequest('Sec-WebSocket-Protocol must be a list of different names');
  if (offered.length > 0 && selectableProtocols(offered).length === 0)
    throw invalidRequest(
      'offer one more subprotocol beside the key, such as "drover": the server selects it, because it never sends a key back',
    );
}

function start(
  websocket: WebSocket,
  request: FastifyRequest,
  { book, run }: { book: SocketBook; run: Run | undefined },
): void {
  const { ip: address, raw } = request;
  const access = accessOf(request);
  if (run === undefined || access === undefined) {
    websocket.terminate();
    return;
  }
  const socket = new OpenSocket({ websocket, connection: raw.socket, access, address });
  book.opened(raw.socket, socket);
  run(socket);
}
