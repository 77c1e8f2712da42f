/** 405 with `Allow` for what a known path does not do. Behind the gate like everything else. */
import type { FastifyInstance } from 'fastify';
import { sendError } from './json-reply.js';
import type { Method } from './route.js';

/** `routes`: all of the server under its prefix. */
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
      config: { scope: 'ALL' },
      handler: (_request, reply) => {
        reply.header('allow', allow);
        sendError(reply, 405, `this endpoint takes only ${allow}`);
      },
    });
  }
}
