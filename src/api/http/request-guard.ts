/**
 * Bounds the time in which bodies must arrive. Node's own limit is off, because it holds for all routes alike and
 * would cut long uploads.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { onRequestHookHandler } from 'fastify';
import { answerTimeout } from './error-reply.js';

/** How long the rest of a body is read and thrown away after the answer. Closing at once could lose the answer. */
const LINGER_MS = 2000;

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The route reads the body itself and bounds its pauses. */
    bodyStream?: true;
  }
}

/**
 * The root hook. A body must be there within `limitMs` of its headers, unless the route takes it as a stream. After
 * the answer every body has 2 s left.
 */
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
