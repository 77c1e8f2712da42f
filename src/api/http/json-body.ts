/** Reads request bodies: JSON in UTF-8, or an empty body under any Content-Type. */
import { isUtf8 } from 'node:buffer';
import { errorCodes, type FastifyInstance } from 'fastify';

/** Matches the type alone, whatever follows it, such as the charset. */
const JSON_TYPE = /^\s*application\/json\s*(?:;|$)/i;

/**
 * Replaces the server's parsers. Existing clients send `application/json` with an empty body; a body that has no
 * Content-Type counts as JSON too.
 */
export function acceptJsonBodies(server: FastifyInstance): void {
  const parseJson = server.getDefaultJsonParser('error', 'error');
  server.removeAllContentTypeParsers();
  server.addContentTypeParser<Buffer>(
    ['application/json', '*'],
    { parseAs: 'buffer' },
    (request, body, done) => {
      if (body.length === 0) return done(null, undefined);
      if (!isJson(request.headers['content-type']))
        return done(new errorCodes.FST_ERR_CTP_INVALID_MEDIA_TYPE());
      if (!isUtf8(body)) return done(new errorCodes.FST_ERR_CTP_INVALID_JSON_BODY());
      return parseJson(request, body.toString('utf8'), done);
    },
  );
}

function isJson(contentType: string | undefined): boolean {
  return contentType === undefined || JSON_TYPE.test(contentType);
}
