/** `/sessions` and `/whoami`: sessions for browsers and people, and the caller's own rights. */

import { z } from 'zod';
import type { Access } from '../../access/access.js';
import { DroverError } from '../../model/errors.js';
import type { Reads } from '../../operations/reads.js';
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
import type { Writes } from '../../operations/writes.js';
import { type Actor, accessOf } from '../gate/auth.js';
import { defineRoute, type Route } from '../http/route.js';

const sessionParams = z.object({
  id: z.string().describe('id of the session, which is not secret; `current`: the session of this call'),
});

export function sessionRoutes(dependencies: Reads & Writes & Reads): readonly Route[] {
  return [
    whoamiRoute(dependencies),
    listRoute(dependencies),
    createRoute(dependencies),
    removeRoute(dependencies),
  ];
}

function whoamiRoute(dependencies: Reads): Route {
  return defineRoute({
    method: 'GET',
    path: '/whoami',
    scope: 'READ',
    reach: 'filtered',
    summary: 'The rights of the key or session of this call, and the cluster that answers.',
    answers: { 200: { description: 'the caller', schema: whoamiSchema } },
    handle: ({ request }) => whoami(dependencies, callerOf(request), request.ip),
  });
}

function listRoute(dependencies: Reads & Writes): Route {
  return defineRoute({
    method: 'GET',
    path: '/sessions',
    scope: 'READ',
    reach: 'filtered',
    summary:
      "The sessions of the caller's key, the oldest first. An unrestricted key with scope ALL gets the sessions of all keys.",
    answers: { 200: { description: 'sessions', schema: z.array(listedSessionSchema) } },
    handle: ({ request }) => listSessions(dependencies, callerOf(request)),
  });
}

function createRoute(dependencies: Reads & Writes): Route {
  return defineRoute({
    method: 'POST',
    path: '/sessions',
    scope: 'READ',
    reach: 'filtered',
    summary: 'Makes a session of the key of this call; only this answer shows its token.',
    errors: ['DRV_STORE_WRITE_FAILED'],
    body: newSessionSchema,
    answers: { 201: { description: 'the new session', schema: createdSessionSchema } },
    handle: async ({ body, request }, reply) => {
      const created = await createSession(dependencies, callerOf(request), { ...body, address: request.ip });
      request.subject = created.id;
      reply.code(201).header('cache-control', 'no-store');
      return created;
    },
  });
}

function removeRoute(dependencies: Reads & Writes): Route {
  return defineRoute({
    method: 'DELETE',
    path: '/sessions/:id',
    scope: 'READ',
    reach: 'filtered',
    summary: 'Ends a session at once; its open sockets are closed. With `current`: signs out.',
    errors: ['DRV_SESSION_UNKNOWN', 'DRV_STORE_WRITE_FAILED'],
    params: sessionParams,
    answers: { 200: { description: 'ended', schema: sessionMessageSchema } },
    handle: async ({ params, request }) => {
      const ended = await endSession(dependencies, callerOf(request), params.id);
      request.subject = ended.id;
      return ended;
    },
  });
}

/** The caller's access, on routes where the gate lets in only keys and sessions. */
export function callerOf(request: { readonly actor: Actor | null }): Access {
  const access = accessOf(request);
  if (access === undefined) throw new DroverError('DRV_INTERNAL', 'the caller has no key');
  return access;
}
