/**
 * Serves the dashboard at `/ui/`: its files, and its page for every other address below. The routes are open, because
 * the files hold no secrets: the page gets its data with a session.
 */

import { randomBytes } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { ApiDependencies } from '../dependencies.js';
import { sendError } from '../http/json-reply.js';
import { defineRoute, type Route } from '../http/route.js';
import { type DashboardFile, type DashboardPage, ENCODINGS } from './dashboard-files.js';

/** The directory of the files whose names hold the hash of their content. */
const HASHED = 'assets/';
const FOR_EVER = 'public, max-age=31536000, immutable';
const ASK_FIRST = 'no-cache';
const HTML_TYPE = 'text/html; charset=utf-8';
const NONCE_BYTES = 16;

const HEADERS: Readonly<Record<string, string>> = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
};

/** The routes at the root of the server. */
export function dashboardRoutes({ dashboard }: ApiDependencies): readonly Route[] {
  const toPage = async (reply: FastifyReply): Promise<FastifyReply> => {
    await dashboard.require();
    // Relative, so that the address is right behind a proxy that adds a prefix.
    return reply.headers(HEADERS).header('cache-control', ASK_FIRST).redirect('ui/');
  };
  return [
    pageRoute('/', ({ reply }) => toPage(reply)),
    pageRoute('/ui', ({ request, reply }) =>
      hasSlash(request) ? sendPath(dashboard, '', { request, reply }) : toPage(reply),
    ),
    pageRoute('/ui/*', ({ path, ...exchange }) => sendPath(dashboard, path, exchange)),
  ];
}

interface Exchange {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

function pageRoute(
  path: string,
  send: (call: Exchange & { readonly path: string }) => Promise<unknown>,
): Route {
  return defineRoute('GET', path, {
    scope: 'open',
    summary: 'The dashboard.',
    params: z.object({ '*': z.string().default('') }),
    answers: { 200: { description: 'a part of the dashboard', contentType: HTML_TYPE } },
    handle: ({ params, request }, _needs, reply) => send({ path: params['*'], request, reply }),
  });
}

async function sendPath(
  dashboard: ApiDependencies['dashboard'],
  path: string,
  { request, reply }: Exchange,
): Promise<unknown> {
  const { page, files } = await dashboard.read();
  const file = files.get(path);
  if (file !== undefined) return sendFile(file, path, { request, reply });
  if (!path.startsWith(HASHED)) return sendPage(page, reply);
  // The file belongs to another version of the page. Answer with an error: the browser would take the page for a
  // script.
  sendError(
    reply.header('cache-control', 'no-store'),
    'DRV_ENDPOINT_UNKNOWN',
    'the dashboard has no such file: load it anew',
  );
  return reply;
}

function sendFile(file: DashboardFile, path: string, { request, reply }: Exchange): FastifyReply {
  const { headers } = request;
  const coding = ENCODINGS.map(({ name }) => name).find(
    (name) => file.encoded.has(name) && accepts(headers['accept-encoding'], name),
  );
  const { bytes, etag } = (coding !== undefined && file.encoded.get(coding)) || file.plain;
  reply
    .headers(HEADERS)
    .header('content-security-policy', policyOf())
    .header('cache-control', path.startsWith(HASHED) ? FOR_EVER : ASK_FIRST)
    .header('etag', etag);
  if (file.encoded.size > 0) reply.header('vary', 'accept-encoding');
  if (isKnown(headers['if-none-match'], etag)) return reply.code(304).send();
  if (coding !== undefined) reply.header('content-encoding', coding);
  return reply.type(file.type).send(bytes);
}

/** Sends the page without an ETag, because each answer has a new nonce. The page is a few hundred bytes. */
function sendPage({ head, end }: DashboardPage, reply: FastifyReply): FastifyReply {
  const nonce = randomBytes(NONCE_BYTES).toString('base64');
  return reply
    .headers(HEADERS)
    .header('content-security-policy', policyOf(nonce))
    .header('cache-control', ASK_FIRST)
    .type(HTML_TYPE)
    .send(`${head}<meta property="csp-nonce" nonce="${nonce}">${end}`);
}

/** The Content-Security-Policy. `nonce`: for the style elements that scripts make. */
function policyOf(nonce?: string): string {
  const styles = nonce === undefined ? "'self'" : `'self' 'nonce-${nonce}'`;
  return (
    `default-src 'none'; script-src 'self'; style-src ${styles}; connect-src 'self'; img-src 'self'; ` +
    "font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
  );
}

function accepts(header: string | string[] | undefined, coding: string): boolean {
  return String(header ?? '')
    .toLowerCase()
    .split(',')
    .map((one) => one.replaceAll(/\s/g, ''))
    .some((one) => one === coding || (one.startsWith(`${coding};q=`) && !/;q=0(?:\.0*)?$/.test(one)));
}

function isKnown(header: string | undefined, etag: string): boolean {
  return (header ?? '').split(',').some((one) => ['*', etag, `W/${etag}`].includes(one.trim()));
}

function hasSlash({ url }: FastifyRequest): boolean {
  const [path = ''] = url.split('?', 1);
  return path.endsWith('/');
}
