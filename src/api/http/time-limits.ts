/**
 * Limits how long a body may take to arrive, and how long a handler may take before its client gets an answer. Node's
 * own limit for bodies is off, because it is the same for all routes and would cut long uploads.
 */
import type { IncomingMessage } from 'node:http';
import { errorCodes, type FastifyReply, type FastifyRequest, type RouteHandlerMethod } from 'fastify';
import { answerTimeout } from './error-reply.js';

/** How long the rest of a body is read and thrown away after the answer. Closing at once could lose the answer. */
const LINGER_MS = 2000;

/**
 * Keeps many waits of the same length under one timer. A timer and a listener for each would take a good part of the
 * time of a small request. A wait begins once and is not repeated.
 */
export class Deadlines<T> {
  readonly #limitMs: number;
  readonly #onLate: (waiting: T) => void;
  /** The time when each wait is due. All waits are equally long, so the first is due first. */
  readonly #dueAt = new Map<T, number>();
  #timer: NodeJS.Timeout | undefined;

  /** `onLate` is called once for each wait that is still open after `limitMs`. */
  constructor(limitMs: number, onLate: (waiting: T) => void) {
    this.#limitMs = limitMs;
    this.#onLate = onLate;
  }

  /** Begins a wait. The timer does not keep the process alive. */
  add(waiting: T): void {
    this.#dueAt.set(waiting, performance.now() + this.#limitMs);
    this.#timer ??= this.#wake(this.#limitMs);
  }

  /** Ends a wait in time. Idempotent. */
  delete(waiting: T): void {
    this.#dueAt.delete(waiting);
  }

  #wake(delayMs: number): NodeJS.Timeout {
    return setTimeout(() => this.#look(), delayMs).unref();
  }

  #look(): void {
    this.#timer = undefined;
    const now = performance.now();
    for (const [waiting, dueAt] of this.#dueAt) {
      if (dueAt > now) {
        this.#timer ??= this.#wake(Math.ceil(dueAt - now));
        return;
      }
      this.#dueAt.delete(waiting);
      this.#onLate(waiting);
    }
  }
}

/**
 * Returns the function to call at the root for each request. Where the route takes JSON, that function requires
 * the body within `limitMs` of the headers. After the answer, the rest of any body has 2 s left.
 */
export function limitBodies(limitMs: number): (request: FastifyRequest, reply: FastifyReply) => void {
  const arriving = new Deadlines(limitMs, refuseLate);
  const lingering = new Deadlines<IncomingMessage>(LINGER_MS, (request) => {
    if (!request.complete) request.socket.destroy();
  });
  return ({ raw: request, routeOptions }, reply) => {
    if (!hasBody(request)) return;
    if (routeOptions.config.takes === 'json') {
      arriving.add(reply);
      request.on('close', () => arriving.delete(reply));
    }
    reply.raw.on('finish', () => {
      arriving.delete(reply);
      // The request of a test's `inject` has no connection, and its `complete` is undefined.
      if (request.complete === false) lingering.add(request);
    });
  };
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

/**
 * Returns the function that gives a handler a limit for its waiting. A request with a late handler is answered with
 * an error, and the handler's later result is dropped. (Fastify's own limit makes and aborts a signal for each
 * request.)
 */
export function limitHandlers(limitMs: number): (handler: RouteHandlerMethod) => RouteHandlerMethod {
  const running = new Deadlines<FastifyReply>(limitMs, (reply) => giveUp(reply, limitMs));
  return (handler) =>
    function (request, reply) {
      const result: unknown = handler.call(this, request, reply);
      if (!(result instanceof Promise)) return result;
      const end = (): void => running.delete(reply);
      running.add(reply);
      result.then(end, end);
      return result;
    };
}

function giveUp(reply: FastifyReply, limitMs: number): void {
  if (reply.sent) return;
  const error = new errorCodes.FST_ERR_HANDLER_TIMEOUT(limitMs, reply.request.routeOptions.url);
  if (reply.raw.headersSent) reply.raw.destroy(error);
  else reply.send(error);
}
