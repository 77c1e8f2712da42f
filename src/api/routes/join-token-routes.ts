/** `/cluster/tokens`: the tokens with which nodes join. Only the answer that makes a token shows it. */

import { z } from 'zod';
import {
  createdJoinTokenSchema,
  createJoinToken,
  joinTokenSchema,
  listJoinTokens,
  newJoinTokenSchema,
  revokedJoinTokenSchema,
  revokeJoinToken,
} from '../../operations/join-tokens.js';
import { defineRoute, type Route } from '../http/route.js';

const tokenParams = z.object({ id: z.string().describe('id of the token, which is not secret') });

export const joinTokenRoutes: readonly Route[] = [
  defineRoute({
    method: 'GET',
    path: '/cluster/tokens',
    scope: 'READ',
    summary: 'All join tokens, the oldest first, without their secrets.',
    answers: { 200: { description: 'join tokens', schema: z.array(joinTokenSchema) } },
    handle: (_call, needs) => listJoinTokens(needs),
  }),
  defineRoute({
    method: 'POST',
    path: '/cluster/tokens',
    scope: 'ALL',
    summary: 'Makes a join token; only this answer shows it. Default: a day, and any number of nodes.',
    errors: ['DRV_STORE_WRITE_FAILED'],
    body: newJoinTokenSchema,
    answers: { 201: { description: 'the new token', schema: createdJoinTokenSchema } },
    handle: async ({ body, request }, needs, reply) => {
      const created = await createJoinToken(needs, body);
      request.subject = created.id;
      reply.code(201).header('cache-control', 'no-store');
      return created;
    },
  }),
  defineRoute({
    method: 'DELETE',
    path: '/cluster/tokens/:id',
    scope: 'ALL',
    summary: 'Ends a join token; nodes that joined with it stay.',
    errors: ['DRV_JOIN_TOKEN_UNKNOWN', 'DRV_STORE_WRITE_FAILED'],
    params: tokenParams,
    answers: { 200: { description: 'ended', schema: revokedJoinTokenSchema } },
    handle: ({ params }, needs) => revokeJoinToken(needs, params.id),
  }),
];
