/**
 * Limits the time in which bodies must arrive. Node's own limit is off, because it is the same for all routes and would
 * cut long uploads.
 */
import type { IncomingMessage } from 'node:http';
import type { FastifyContextConfig, FastifyReply } from 'fastify';
import { Deadlines } from './deadlines.js';
import { answerTimeout } from './error-reply.js';

/** How long the rest of a body is read and thrown away after the answer. Closing at once could lose the answer. */
const LINGER_MS = 2000;

declare module 'fastify' {
  interface FastifyContextConfig {
    /** True when the route reads the body itself and limits its pauses. */
    bodyStream?: true;
  }
}

/**
 * Requires a body within `limitMs` of its headers, unless the route takes it as a stream. After the answer every body
 * has 2 s left.
 */
export class BodyGuard {
  readonly #arriving: Deadlines<FastifyReply>;
  readonly #lingering = new Deadlines<IncomingMessage>(LINGER_MS, (request) => {
    if (!request.complete) request.socket.destroy();
  });

  constructor(limitMs: number) {
    this.#arriving = new Deadlines(limitMs, refuseLate);
  }

  /** Called at the root for each request. */
  watch(request: IncomingMessage, reply: FastifyReply, { bodyStream }: FastifyContextConfig): void {
    if (!hasBody(request)) return;
    if (bodyStream !== true) {
      this.#arriving.add(reply);
      request.on('close', () => this.#arriving.delete(reply));
    }
    reply.raw.on('finish', () => {
      this.#arriving.delete(reply);
      // A request that a test injects has no connection, and does not say whether it is complete.
      if (request.complete === false) this.#lingering.add(request);
    });
  }
}

/** True when the headers announce a body that is not empty. */
export function hasBody({ headers }: IncomingMessage): boolean {
  const length = headers['content-length'];
  return headers['transfer-encoding'] !== undefined || (length !== undefined && length !== '0');
}

function refuseLate({ raw: response, request: { raw: request } }: FastifyReply): void {
  if (response.headersSent || response.socket === null) request.socket.destroy();
  else answerTimeout(request.socket);
}
