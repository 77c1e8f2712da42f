/** `/sessions` and `/whoami`: sessions for browsers and people, and the caller's own rights. */

import { z } from 'zod';
import type { Access } from '../../access/access.js';
import { DroverError } from '../../model/errors.js';
import {
  createdSessionSchema,
  createSession,
  endSession,
  listedSessionSchema,
  listSessions,
  newSessionSchema,
  sessionMessageSchema,
  whoami,
  whoamiSchema,
} from '../../operations/sessions.js';
import { type Actor, accessOf } from '../gate/auth.js';
import { defineRoute, type Route } from '../http/route.js';

const sessionParams = z.object({
  id: z.string().describe('id of the session, which is not secret; `current`: the session of this call'),
});

export const sessionRoutes: readonly Route[] = [
  defineRoute({
    method: 'GET',
    path: '/whoami',
    scope: 'READ',
    reach: 'filtered',
    summary: 'The rights of the key or session of this call, and the cluster that answers.',
    answers: { 200: { description: 'the caller', schema: whoamiSchema } },
    handle: ({ request }, needs) => whoami(needs, callerOf(request), request.ip),
  }),
  defineRoute({
    method: 'GET',
    path: '/sessions',
    scope: 'READ',
    reach: 'filtered',
    summary:
      "The sessions of the caller's key, the oldest first. An unrestricted key with scope ALL gets the sessions of all keys.",
    answers: { 200: { description: 'sessions', schema: z.array(listedSessionSchema) } },
    handle: ({ request }, needs) => listSessions(needs, callerOf(request)),
  }),
  defineRoute({
    method: 'POST',
    path: '/sessions',
    scope: 'READ',
    reach: 'filtered',
    summary: 'Makes a session of the key of this call; only this answer shows its token.',
    errors: ['DRV_STORE_WRITE_FAILED'],
    body: newSessionSchema,
    answers: { 201: { description: 'the new session', schema: createdSessionSchema } },
    handle: async ({ body, request }, needs, reply) => {
      const created = await createSession(needs, callerOf(request), { ...body, address: request.ip });
      request.subject = created.id;
      reply.code(201).header('cache-control', 'no-store');
      return created;
    },
  }),
  defineRoute({
    method: 'DELETE',
    path: '/sessions/:id',
    scope: 'READ',
    reach: 'filtered',
    summary: 'Ends a session at once; its open sockets are closed. With `current`: signs out.',
    errors: ['DRV_SESSION_UNKNOWN', 'DRV_STORE_WRITE_FAILED'],
    params: sessionParams,
    answers: { 200: { description: 'ended', schema: sessionMessageSchema } },
    handle: async ({ params, request }, needs) => {
      const ended = await endSession(needs, callerOf(request), params.id);
      request.subject = ended.id;
      return ended;
    },
  }),
];

/** The caller's access, on routes where the gate lets in only keys and sessions. */
export function callerOf(request: { readonly actor: Actor | null }): Access {
  const access = accessOf(request);
  if (access === undefined) throw new DroverError('DRV_INTERNAL', 'the caller has no key');
  return access;
}
