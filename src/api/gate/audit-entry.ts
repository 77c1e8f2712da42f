/**
 * Names the action and the subject of a request for the audit trail: the action by its route, the subject by its
 * parameters. Neither holds a body or a token.
 */
import type { FastifyRequest } from 'fastify';
import { isObject } from '../../model/json-object.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** The subject where the path does not name it, such as the id of a new instance; null: the path names it. */
    subject: string | null;
    /** True: the request changed nothing that deserves an entry, such as a report of a state that was known already. */
    isRoutine: boolean;
  }
}

const PREFIX = '/api';

/**
 * The method and route pattern, such as `PUT /configurations/:name`. It never holds the text of a URL that has no
 * route.
 */
export function actionOf({ method, routeOptions: { url } }: FastifyRequest): string {
  if (url === undefined) return `${method} of no endpoint`;
  return `${method} ${url.startsWith(`${PREFIX}/`) ? url.slice(PREFIX.length) : url}`;
}

/**
 * The path's parameters joined by slashes, and the target of a lifecycle request. Null when there are no parameters, or
 * no route.
 */
export function subjectOf({ subject, params, query, routeOptions }: FastifyRequest): string | null {
  if (routeOptions.url === undefined) return null;
  const named = subject ?? textsOf(params).join('/');
  const target = isObject(query) && typeof query.target === 'string' ? ` target=${query.target}` : '';
  return named + target === '' ? null : named + target;
}

function textsOf(params: unknown): string[] {
  return isObject(params) ? Object.values(params).filter((value) => typeof value === 'string') : [];
}
