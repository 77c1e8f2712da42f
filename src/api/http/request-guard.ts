/**
 * Holds the bodies of requests to their time. Node's own limit counts for all routes alike and would cut a long
 * upload, so that it is off and this one stands in its place.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { onRequestHookHandler } from 'fastify';
import { answerTimeout } from './error-reply.js';

/** How long what a client still sends is read and thrown away when it has its answer: closing at once could lose that. */
const LINGER_MS = 2000;

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The route reads the body itself and bounds how long that pauses. */
    bodyStream?: true;
  }
}

/** Root hook: a body must be there within `limitMs` of its headers, unless the route takes it as a stream. */
export function guardBodies(limitMs: number): onRequestHookHandler {
  return (request, reply, done) => {
    if (hasBody(request.raw)) {
      if (request.routeOptions.config.bodyStream !== true) limitTime(request.raw, reply.raw, limitMs);
      reply.raw.once('finish', () => limitRest(request.raw));
    }
    done();
  };
}

/** True when the headers announce a body that is not empty. */
export function hasBody({ headers }: IncomingMessage): boolean {
  const length = headers['content-length'];
  return headers['transfer-encoding'] !== undefined || (length !== undefined && length !== '0');
}

function limitTime(request: IncomingMessage, response: ServerResponse, limitMs: number): void {
  const timer = setTimeout(() => {
    if (response.headersSent || response.socket === null) request.socket.destroy();
    else answerTimeout(request.socket);
  }, limitMs).unref();
  request.once('close', () => clearTimeout(timer));
}

function limitRest(request: IncomingMessage): void {
  if (request.complete) return;
  const timer = setTimeout(() => request.socket.destroy(), LINGER_MS).unref();
  request.once('close', () => clearTimeout(timer));
}
