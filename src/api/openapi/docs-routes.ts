/**
 * Serves the API's description at `/api/openapi.json`, and Swagger UI at `/docs` to read it. Both are open: they hold
 * no secrets, and a browser sends no key for a page. The page loads nothing from another host.
 */
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { FastifyReply } from 'fastify';
import { z } from 'zod';
import type { MaybePromise } from '../../loop/maybe-promise.js';
import { sendEncoded } from '../http/json-reply.js';
import { defineRoute, jsonAnswer, type Route } from '../http/route.js';

const CACHE = 'public, max-age=3600';
const HTML_TYPE = 'text/html; charset=utf-8';
const SCRIPT_TYPE = 'text/javascript; charset=utf-8';
const STYLE_TYPE = 'text/css; charset=utf-8';

/** The style sheet has its arrows as `data:` images. `connect-src` keeps typed keys on this server. */
const HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
};

/** The addresses are relative, so that the page works behind a proxy that adds a prefix. */
const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Drover API</title>
<link rel="icon" href="docs/favicon-32x32.png">
<link rel="stylesheet" href="docs/swagger-ui.css">
</head>
<body>
<div id="page"></div>
<script src="docs/swagger-ui-bundle.js"></script>
<script type="module" src="docs/page.js"></script>
</body>
</html>
`;

/** The page calls the server that it came from, and not the default address that stands in the description. */
const PAGE_SCRIPT = `const answer = await fetch('api/openapi.json');
const spec = await answer.json();
spec.servers = [{ url: new URL('api', location.href).href }];
SwaggerUIBundle({
  spec,
  dom_id: '#page',
  deepLinking: true,
  displayOperationId: true,
  displayRequestDuration: true,
  docExpansion: 'list',
  defaultModelsExpandDepth: 0,
  persistAuthorization: false,
  queryConfigEnabled: false,
  validatorUrl: null,
});
`;

/** The files of the package `swagger-ui-dist` that are served. No other file of the package can be read. */
const PACKAGE_FILES: Readonly<Record<string, string>> = {
  'swagger-ui.css': STYLE_TYPE,
  'swagger-ui-bundle.js': SCRIPT_TYPE,
  'favicon-32x32.png': 'image/png',
};

/** The route of the description, under `/api`. The bytes are made with the first request and kept. */
export function openApiRoute(describe: () => Promise<string>): Route {
  let bytes: Promise<Buffer> | undefined;
  return defineRoute('GET', '/openapi.json', {
    isOwn: true,
    scope: 'open',
    summary: 'This description of the API.',
    answers: jsonAnswer('an OpenAPI 3.1 document', z.looseObject({ openapi: z.string() })),
    handle: async (_call, _needs, reply) => {
      bytes ??= describe().then((text) => Buffer.from(text));
      sendEncoded(reply, [await bytes]);
    },
  });
}

/** The routes of the page, at the root of the server. */
export function docsRoutes(): readonly Route[] {
  const { resolve } = createRequire(import.meta.url);
  return [
    pageRoute('/docs', HTML_TYPE, sendPage),
    pageRoute('/docs/page.js', SCRIPT_TYPE, (reply) => reply.send(PAGE_SCRIPT)),
    ...Object.entries(PACKAGE_FILES).map(([name, type]) =>
      pageRoute(`/docs/${name}`, type, (reply) => sendFile(reply, resolve(`swagger-ui-dist/${name}`))),
    ),
  ];
}

function pageRoute(path: string, type: string, send: (reply: FastifyReply) => MaybePromise<unknown>): Route {
  return defineRoute('GET', path, {
    scope: 'open',
    summary: 'The page that shows the description of the API.',
    answers: { 200: { description: 'a part of the page', contentType: type } },
    handle: (_call, _needs, reply) => send(reply.headers(HEADERS).header('cache-control', CACHE).type(type)),
  });
}

/** Redirects an address with a slash at its end: the relative addresses of the page would not fit it. */
function sendPage(reply: FastifyReply): FastifyReply {
  const [path = ''] = reply.request.url.split('?', 1);
  return path.endsWith('/') ? reply.redirect('../docs') : reply.send(PAGE);
}

async function sendFile(reply: FastifyReply, file: string): Promise<FastifyReply> {
  const { size } = await stat(file);
  return reply.header('content-length', size).send(createReadStream(file));
}
