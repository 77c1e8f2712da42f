/** One log line for every write through the API: who, what, from where, and how it ended. No body, no token. */
import type { onResponseHookHandler } from 'fastify';
import { nameSchema } from '../model/names.js';
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
      const { method } = request;
      const key = actorLabel(actor);
      const route = request.routeOptions.url ?? null;
      const id = request.subject ?? pathSubject(request.params);
      const status = reply.statusCode;
      const target = targetOf(request.query);
      const fields = {
        key,
        method,
        route,
        id,
        ...(target !== undefined && { target }),
        address: request.ip,
        status,
      };
      const text = `write through the API: ${method} ${route}${describe(id)}${describe(target)} by ${key}: ${status}`;
      // Apps report their own state again and again; what operators and tools do must not drown in that.
      if (actor.kind === 'instance') logger.debug(fields, text);
      else logger.info(fields, text);
    }
    done();
  };
}

function pathSubject(params: unknown): unknown {
  return params !== null && typeof params === 'object' ? (Object.values(params)[0] ?? null) : null;
}

/** What a lifecycle request asks for. */
function targetOf(query: unknown): unknown {
  return query !== null && typeof query === 'object' && 'target' in query ? query.target : undefined;
}

/** Only what is a name or id is shown on a terminal: anything else could steer it. */
function describe(id: unknown): string {
  return nameSchema.safeParse(id).success ? ` (${String(id)})` : '';
}
