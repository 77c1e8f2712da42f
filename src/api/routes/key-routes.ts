/** `/keys`: the keys of the API. Only the answer that makes a key shows its token. */

import { z } from 'zod';
import {
  createdKeySchema,
  createKey,
  deleteKey,
  keyMessageSchema,
  listedKeySchema,
  listKeys,
  newKeySchema,
} from '../../operations/api-keys.js';
import { defineRoute, type Route } from '../http/route.js';

const keyParams = z.object({ label: z.string().describe('label of the key') });

export const keyRoutes: readonly Route[] = [
  defineRoute({
    method: 'GET',
    path: '/keys',
    scope: 'READ',
    summary: 'All keys of the API by label, tokens masked.',
    answers: { 200: { description: 'keys', schema: z.array(listedKeySchema) } },
    handle: (_call, needs) => listKeys(needs),
  }),
  defineRoute({
    method: 'POST',
    path: '/keys',
    scope: 'ALL',
    summary: 'Makes a key; only this answer shows its token.',
    errors: ['DRV_KEY_EXISTS', 'DRV_STORE_WRITE_FAILED'],
    body: newKeySchema,
    answers: { 201: { description: 'the new key', schema: createdKeySchema } },
    handle: async ({ body, request }, needs, reply) => {
      request.subject = body.label;
      const created = await createKey(needs, body);
      reply.code(201).header('cache-control', 'no-store');
      return created;
    },
  }),
  defineRoute({
    method: 'DELETE',
    path: '/keys/:label',
    scope: 'ALL',
    summary: 'Revokes a key at once; its open sockets are closed. The last key with scope ALL stays.',
    errors: ['DRV_KEY_UNKNOWN', 'DRV_STORE_WRITE_FAILED'],
    params: keyParams,
    answers: { 200: { description: 'revoked', schema: keyMessageSchema } },
    handle: ({ params }, needs) => deleteKey(needs, params.label),
  }),
];
