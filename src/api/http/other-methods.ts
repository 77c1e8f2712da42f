/** Answers 405 with `Allow` to methods that a known path does not take. The gate comes first, as everywhere. */
import type { FastifyInstance } from 'fastify';
import { sendError } from './json-reply.js';
import type { Method } from './route.js';

/** `routes`: all routes of the server under the prefix of `api`. */
export function refuseOtherMethods(
  api: FastifyInstance,
  routes: readonly { readonly path: string; readonly method: Method }[],
): void {
  for (const url of new Set(routes.map(({ path }) => path))) {
    const offered = new Set<string>(routes.filter(({ path }) => path === url).map(({ method }) => method));
    if (offered.has('GET')) offered.add('HEAD');
    const allow = [...offered].join(', ');
    api.route({
      method: api.supportedMethods.filter((method) => !offered.has(method)),
      url,
      config: { scope: 'READ', reach: 'filtered' },
      handler: (_request, reply) => {
        reply.header('allow', allow);
        sendError(reply, 405, `this endpoint takes only ${allow}`);
      },
    });
  }
}
