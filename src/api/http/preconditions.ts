/** The HTTP headers `ETag`, `If-Match` and `If-None-Match`, for objects that have a revision. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { Precondition } from '../../configuration-files/precondition.js';
import { invalidRequest } from '../../model/errors.js';

const TAGS = /^(?:W\/)?"[\w-]+"(?:[ \t]*,[ \t]*(?:W\/)?"[\w-]+")*$/;
/** The marks that proxies put on a tag when they pack the answer: nginx makes it weak, Apache adds the coding. */
const PROXY_MARK = /^W\/|-(?:gzip|br|deflate)(?="$)/g;

/** The headers for the description of a route that heeds them. */
export const preconditionHeaders = z.object({
  'If-Match': z
    .string()
    .optional()
    .describe(
      'write only if the `ETag` of the object is still this one, or one of several, separated by commas; `*`: only if the object exists',
    ),
  'If-None-Match': z.literal('*').optional().describe('write only if the object does not exist'),
});

export function setTag(reply: FastifyReply, revision: string): void {
  reply.header('etag', `"${revision}"`);
}

/**
 * The condition in the headers; undefined: there is none. Throws DRV_REQUEST_INVALID for a condition that would not be
 * heeded.
 */
export function preconditionOf({ headers }: FastifyRequest): Precondition | undefined {
  const { 'if-match': match, 'if-none-match': none } = headers;
  if (none !== undefined) {
    if (none.trim() !== '*' || match !== undefined)
      throw invalidRequest(
        'header If-None-Match: must be * and come without If-Match: it asks that the object does not exist yet',
      );
    return { is: 'absent' };
  }
  if (match === undefined) return undefined;
  const text = match.trim();
  if (text === '*') return { is: 'existing' };
  if (!TAGS.test(text))
    throw invalidRequest('header If-Match: must be an ETag as it was answered, with its quotes, or *');
  const tags = text.split(',').map((tag) => tag.trim().replace(PROXY_MARK, ''));
  return { is: 'existing', revisions: tags.map((tag) => tag.slice(1, -1)) };
}
