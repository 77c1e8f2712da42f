/** One log line for every write through the API: who, what, from where, and how it ended. No body, no token. */
import type { onResponseHookHandler } from 'fastify';
import type { Logger } from '../telemetry/logger.js';
import { actorLabel } from './auth.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** What a request turned out to be about, where the path does not say it: the id of a new instance. */
    subject: string | null;
  }
}

/** Hook for routes that write. Requests that were refused before have no actor and are logged by the gate. */
export function auditWrites(logger: Logger): onResponseHookHandler {
  return (request, reply, done) => {
    const { actor } = request;
    if (actor !== null) {
      const route = request.routeOptions.url ?? null;
      const fields = {
        key: actorLabel(actor),
        method: request.method,
        route,
        id: request.subject ?? pathSubject(request.params),
        address: request.ip,
        status: reply.statusCode,
      };
      // Apps report their own state again and again; what operators and tools do must not drown in that.
      if (actor.kind === 'instance') logger.debug(fields, 'state report by an instance');
      else logger.info(fields, 'write through the API');
    }
    done();
  };
}

function pathSubject(params: unknown): unknown {
  return params !== null && typeof params === 'object' ? (Object.values(params)[0] ?? null) : null;
}
