/** How bytes and errors leave the API. */
import type { FastifyReply } from 'fastify';

export const JSON_TYPE = 'application/json; charset=utf-8';

/** Sends encoded JSON as it is. The bytes must not change until they are out. */
export function sendBytes(reply: FastifyReply, bytes: Buffer): void {
  reply.type(JSON_TYPE).send(bytes);
}

/** 204: done, and nothing to tell. */
export function sendNoContent(reply: FastifyReply): void {
  reply.code(204).send();
}

/** The one form of every error answer. */
export function sendError(reply: FastifyReply, status: number, error: string): void {
  reply.code(status).send({ error });
}
