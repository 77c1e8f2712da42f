/** Sends JSON, errors and empty answers. */
import type { FastifyReply } from 'fastify';

export const JSON_TYPE = 'application/json; charset=utf-8';

/** Sends bytes that hold JSON already. They must not change until they are sent. */
export function sendBytes(reply: FastifyReply, bytes: Buffer): void {
  reply.type(JSON_TYPE).send(bytes);
}

/** Answers 204: it is done, and there is nothing to say. */
export function sendNoContent(reply: FastifyReply): void {
  reply.code(204).send();
}

/** Answers with an error, in the one form that all errors have. */
export function sendError(reply: FastifyReply, status: number, error: string): void {
  reply.code(status).send({ error });
}
