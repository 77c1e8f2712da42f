/**
 * The API's description at `/api/openapi.json` and a page to read it at `/docs`: Swagger UI, served by ourselves from a
 * fixed table of files. Open to everyone, as neither holds anything secret and a browser sends no key for a page. The
 * page asks no other host for anything.
 */
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { FastifyReply } from 'fastify';
import { z } from 'zod';
import type { MaybePromise } from '../../loop/maybe-promise.js';
import { sendBytes } from '../http/json-reply.js';
import { defineRoute, nothing, type Route } from '../http/route.js';

const CACHE = 'public, max-age=3600';
const HTML_TYPE = 'text/html; charset=utf-8';
const SCRIPT_TYPE = 'text/javascript; charset=utf-8';
const STYLE_TYPE = 'text/css; charset=utf-8';

/** `data:` is for the arrows of its style sheet; keys that are typed in go to this server only. */
const HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
};

/** Addresses are relative, so that the page works behind a proxy that adds a prefix. */
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
<script src="docs/page.js"></script>
</body>
</html>
`;

const PAGE_SCRIPT = `SwaggerUIBundle({
  url: 'api/openapi.json',
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

/** Of the package `swagger-ui-dist`, by name: nothing else of it can be had. */
const PACKAGE_FILES: Readonly<Record<string, string>> = {
  'swagger-ui.css': STYLE_TYPE,
  'swagger-ui-bundle.js': SCRIPT_TYPE,
  'favicon-32x32.png': 'image/png',
};

/** Under `/api`. The bytes are made at the first call and kept. */
export function openApiRoute(describe: () => Promise<string>): Route {
  let bytes: Promise<Buffer> | undefined;
  return defineRoute({
    method: 'GET',
    path: '/openapi.json',
    scope: 'open',
    summary: 'This description of the API.',
    params: nothing,
    query: nothing,
    body: nothing,
    answers: {
      200: { description: 'an OpenAPI 3.1 document', schema: z.looseObject({ openapi: z.string() }) },
    },
    handle: async (_call, reply) => {
      bytes ??= describe().then((text) => Buffer.from(text));
      sendBytes(reply, await bytes);
    },
  });
}

/** At the root of the server, not under `/api`. */
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
  return defineRoute({
    method: 'GET',
    path,
    scope: 'open',
    summary: 'The page that shows the description of the API.',
    params: nothing,
    query: nothing,
    body: nothing,
    answers: { 200: { description: 'a part of the page', contentType: type } },
    handle: (_call, reply) => send(reply.headers(HEADERS).header('cache-control', CACHE).type(type)),
  });
}

/** With a slash at its end the address would be another base for those in the page. */
function sendPage(reply: FastifyReply): FastifyReply {
  const [path = ''] = reply.request.url.split('?', 1);
  return path.endsWith('/') ? reply.redirect('../docs') : reply.send(PAGE);
}

async function sendFile(reply: FastifyReply, file: string): Promise<FastifyReply> {
  const { size } = await stat(file);
  return reply.header('content-length', size).send(createReadStream(file));
}
