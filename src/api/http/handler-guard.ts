/** Limits how long a handler may take before its client gets an answer. */
import { errorCodes, type FastifyReply, type RouteHandlerMethod } from 'fastify';
import { Deadlines } from './deadlines.js';

export class HandlerGuard {
  readonly #running: Deadlines<FastifyReply>;

  constructor(limitMs: number) {
    this.#running = new Deadlines(limitMs, (reply) => giveUp(reply, limitMs));
  }

  /**
   * The handler with a limit for its waiting. A late handler's request is answered with an error, and its later result
   * is dropped. (Fastify's own limit makes and aborts a signal for each request.)
   */
  bound(handler: RouteHandlerMethod): RouteHandlerMethod {
    const running = this.#running;
    return function (request, reply) {
      const result: unknown = handler.call(this, request, reply);
      if (!(result instanceof Promise)) return result;
      const end = (): void => running.delete(reply);
      running.add(reply);
      result.then(end, end);
      return result;
    };
  }
}

function giveUp(reply: FastifyReply, limitMs: number): void {
  if (reply.sent) return;
  const error = new errorCodes.FST_ERR_HANDLER_TIMEOUT(limitMs, reply.request.routeOptions.url);
  if (reply.raw.headersSent) reply.raw.destroy(error);
  else reply.send(error);
}
