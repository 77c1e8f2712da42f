/**
 * Decides what becomes of a request's body: most routes leave it unread, some take JSON, some the bytes. A body is never
 * judged by its `Content-Type`, because clients send JSON as forms, and a cross-site form has no key.
 */
import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { checkJsonText, JsonTextError } from '../../configuration-files/json-position.js';
import { DroverError, invalidRequest } from '../../model/errors.js';
import { hasBody } from './time-limits.js';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The body that the route takes. `stream`: the route reads it itself. Absent: it leaves any body unread. */
    takes?: 'json' | 'stream';
    /** The most values that the JSON body of the route may hold. Default: MAX_JSON_VALUES. */
    mostValues?: number;
  }
}

/** The codings that leave the bytes as they are, once Node has put the chunks together. */
const PLAIN: ReadonlySet<string> = new Set(['', 'identity', 'chunked']);
const MAX_CODING_CHARS = 40;
const ANY_TYPE = 'application/octet-stream';
const MULTIPART = /^\s*multipart\//i;

/** Makes the routes of a server leave bodies unread. */
export function leaveBodies(server: FastifyInstance): void {
  server.removeAllContentTypeParsers();
  server.addContentTypeParser('*', (_request, _payload, done) => done(null));
}

/** Makes the routes of a server take JSON in UTF-8. An empty body is none. A field that is given twice is a fault. */
export function takeJsonBodies(server: FastifyInstance): void {
  const parse = server.getDefaultJsonParser('error', 'error');
  server.removeAllContentTypeParsers();
  server.addContentTypeParser<Buffer>('*', { parseAs: 'buffer' }, (request, body, done) => {
    if (body.length === 0) return done(null, undefined);
    const text = body.toString('utf8');
    const { mostValues } = request.routeOptions.config;
    const fault = isUtf8(body)
      ? faultOf(text, mostValues)
      : 'the body is not valid JSON: it is not text in UTF-8';
    return fault === undefined ? parse(request, text, done) : done(invalidRequest(fault));
  });
}

function faultOf(text: string, mostValues: number | undefined): string | undefined {
  try {
    checkJsonText(text, mostValues);
    return undefined;
  } catch (error) {
    if (!(error instanceof JsonTextError)) throw error;
    return `the body is not valid JSON: line ${error.line}, column ${error.column}: ${error.message}`;
  }
}

/**
 * Called for each request that the gate has let in. Throws DRV_CONTENT_TYPE_UNKNOWN where the route would take the bytes
 * of a wrapped body for its content. Then replaces the stated type by a fixed one, because Fastify refuses types that
 * are not well-formed.
 */
export function requirePlainBody({ raw, routeOptions }: Pick<FastifyRequest, 'raw' | 'routeOptions'>): void {
  if (routeOptions.config.takes !== undefined && hasBody(raw)) refuseWrapped(raw);
  raw.headers['content-type'] = ANY_TYPE;
}

function refuseWrapped({ headers }: IncomingMessage): void {
  const coding = codingOf(headers);
  if (coding !== undefined)
    throw new DroverError(
      'DRV_CONTENT_TYPE_UNKNOWN',
      `the body is packed (${coding}), and Drover unpacks none: send it as it is, without Content-Encoding`,
    );
  if (MULTIPART.test(headers['content-type'] ?? ''))
    throw new DroverError(
      'DRV_CONTENT_TYPE_UNKNOWN',
      'the body is a multipart form, which is not taken: send the content itself as the body (curl --data-binary @file, not -F)',
    );
}

/** The coding of a body; undefined: its bytes are the content. */
function codingOf(headers: IncomingMessage['headers']): string | undefined {
  const said = [headers['content-encoding'], headers['transfer-encoding']].join(',').split(',');
  const [coding] = said.map((one) => one.trim().toLowerCase()).filter((one) => !PLAIN.has(one));
  return coding?.slice(0, MAX_CODING_CHARS);
}
