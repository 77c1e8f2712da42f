/**
 * Answers requests that match no route: 405 with `Allow` where the path takes other methods, otherwise 404. The gate
 * comes first, as everywhere.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { sendError } from './json-reply.js';
import type { Method } from './route.js';

export interface Endpoint {
  /** The path with its prefix, as the router has it: `/api/instances/:id`. */
  readonly path: string;
  readonly method: Method;
}

/**
 * The handler for requests that match no endpoint. A route for each refused method of each path would do the same.
 * But these would be five times as many as the endpoints, and take a tenth of a start.
 */
export function refuseUnknown(
  endpoints: readonly Endpoint[],
): (request: FastifyRequest, reply: FastifyReply) => void {
  const known = endpoints.map(({ path, method }) => ({ pattern: patternOf(path), method }));
  return (request, reply) => {
    const offered = new Set<string>(
      known.filter(({ pattern }) => pattern.test(request.url)).map(({ method }) => method),
    );
    if (offered.has('GET')) offered.add('HEAD');
    if (offered.size === 0 || offered.has(request.method)) {
      sendError(reply, 'DRV_ENDPOINT_UNKNOWN', 'there is no such endpoint');
      return;
    }
    const allow = [...offered].join(', ');
    sendError(reply.header('allow', allow), 'DRV_METHOD_UNKNOWN', `this endpoint takes only ${allow}`);
  };
}

/** Matches the URLs that the router would give to this path, with or without a final slash and a query. */
export function patternOf(path: string): RegExp {
  const text = path.replaceAll('.', '\\.').replaceAll('*', '.*').replaceAll(/:\w+/g, '[^/?]+');
  return new RegExp(`^${text}/?(?:\\?|$)`);
}
