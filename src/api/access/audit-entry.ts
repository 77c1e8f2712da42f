/** What an audit entry says of a request: the action by its route, the subject by its parameters. Never body or token. */
import type { FastifyRequest } from 'fastify';

declare module 'fastify' {
  interface FastifyRequest {
    /** What a request turned out to be about, where the path does not say it: the id of a new instance. */
    subject: string | null;
    /** True: it changed nothing worth an entry, such as a report of the state that was known. */
    isRoutine: boolean;
  }
}

const PREFIX = '/api';

/** Method and route pattern, such as `PUT /configurations/:name`; never the text of a URL that no route matched. */
export function actionOf({ method, routeOptions: { url } }: FastifyRequest): string {
  if (url === undefined) return `${method} of no endpoint`;
  return `${method} ${url.startsWith(`${PREFIX}/`) ? url.slice(PREFIX.length) : url}`;
}

/** The path's parameters joined as a path, and what a lifecycle request asks for; null where no route matched. */
export function subjectOf({ subject, params, query, routeOptions }: FastifyRequest): string | null {
  if (routeOptions.url === undefined) return null;
  const named = subject ?? textsOf(params).join('/');
  const target = isObject(query) && typeof query.target === 'string' ? ` target=${query.target}` : '';
  return named + target === '' ? null : named + target;
}

function textsOf(params: unknown): string[] {
  return isObject(params) ? Object.values(params).filter((value) => typeof value === 'string') : [];
}

function isObject(value: unknown): value is Record<string, unknown> {
  return value !== null && typeof value === 'object';
}
