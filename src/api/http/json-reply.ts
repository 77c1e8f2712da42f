/** Sends answers that are already encoded, errors and empty answers. */
import type { FastifyReply } from 'fastify';
import { type ErrorCode, statusOfCode } from '../../model/errors.js';

export const JSON_TYPE = 'application/json; charset=utf-8';

/**
 * Sends encoded pieces without a copy of the whole. The pieces must not change until they are sent. It bypasses
 * Fastify's own sending, which would only look for values to encode. So no `onSend` hook runs, and only headers that
 * were set on `reply.raw` are sent.
 */
export function sendEncoded(
  reply: FastifyReply,
  pieces: readonly (string | Buffer)[],
  type: string = JSON_TYPE,
): void {
  let length = 0;
  for (const piece of pieces) length += Buffer.byteLength(piece);
  const { raw } = reply.hijack();
  raw.writeHead(raw.statusCode, { 'content-type': type, 'content-length': length });
  for (const piece of pieces.slice(0, -1)) raw.write(piece);
  raw.end(pieces.at(-1));
}

/** Answers 204: the work is done, and there is nothing to say. */
export function sendNoContent(reply: FastifyReply): void {
  reply.code(204).send();
}

/** Answers with an error, in the one form that all errors have. */
export function sendError(reply: FastifyReply, code: ErrorCode, error: string): void {
  reply.code(statusOfCode(code)).send({ error, code });
}
