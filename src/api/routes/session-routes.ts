/** `/sessions` and `/whoami`: sessions for browsers and people, and the caller's own rights. */

import { z } from 'zod';
import type { Access } from '../../access/access.js';
import { type ApiKeyRecord, keyScopeSchema } from '../../model/access/api-key.js';
import {
  endOfSession,
  grantOfSession,
  type SessionRecord,
  sessionIdSchema,
} from '../../model/access/session.js';
import { DroverError, internalError } from '../../model/errors.js';
import { CLUSTER_COLORS } from '../../model/plain/cluster-colors.js';
import type { RouteNeeds } from '../dependencies.js';
import { type Actor, accessOf } from '../gate/auth.js';
import { defineRoute, jsonAnswer, type Route } from '../http/route.js';
import { expiryOf, expirySchema, restrictions } from './key-routes.js';

/** The word for the caller's own session, in place of an id. */
const OWN = 'current';

/** The fields of a new session. It has the restrictions of its key, so these are not among the fields. */
const newSessionSchema = z.object({
  scope: keyScopeSchema
    .exclude(['PUBLIC'])
    .nullish()
    .describe('the scope, at most that of the key; null: the same'),
  expires: expirySchema
    .nullish()
    .describe('the latest end, such as `8h`; null: after 7 days, or with its key'),
});

const limitFields = { scope: keyScopeSchema, ...restrictions };

const sessionFields = {
  id: sessionIdSchema.describe('id of the session, which is not secret'),
  key: z.string().describe('label of its key'),
  ...limitFields,
  expiresAt: z.number().describe('the latest end, in Unix milliseconds'),
  endsAt: z.number().describe('the end if the session is not used before, in Unix milliseconds'),
};

export const createdSessionSchema = z.object({
  ...sessionFields,
  token: z.string().describe('the token, shown only here; it is accepted wherever a key is'),
});

export type CreatedSession = z.output<typeof createdSessionSchema>;

export const listedSessionSchema = z.object({
  ...sessionFields,
  createdAt: z.number().describe('Unix milliseconds'),
  lastUsedAt: z.number().describe('Unix milliseconds, exact to a minute'),
  lastUsedFrom: z.string().describe('address of the last use'),
  isCurrent: z.boolean().describe('true: it is the session of this call'),
});
export type ListedSession = z.output<typeof listedSessionSchema>;

const sessionMessageSchema = z.object({ message: z.string(), id: sessionIdSchema });

export const whoamiSchema = z.object({
  key: z.string().describe('label of the key'),
  session: z.string().nullable().describe('id of the session; null: the key itself'),
  ...limitFields,
  expiresAt: z.number().nullable().describe('the end in Unix milliseconds; null: never'),
  endsAt: z
    .number()
    .nullable()
    .describe('the end if it is not used before, in Unix milliseconds; null: never'),
  address: z.string().describe('the address of the caller'),
  nodeId: z.string().describe('the node that answers'),
  clusterName: z.string(),
  clusterColor: z
    .enum(CLUSTER_COLORS)
    .nullable()
    .describe('its colour in the dashboard; null: config.json has none'),
  version: z.string().describe('the version of Drover on that node'),
});
export type Caller = z.output<typeof whoamiSchema>;

const sessionParams = z.object({
  id: z.string().describe('id of the session, which is not secret; `current`: the session of this call'),
});

export const sessionRoutes: readonly Route[] = [
  defineRoute('GET', '/whoami', {
    scope: 'READ',
    reach: 'filtered',
    summary: 'The rights of the key or session of this call, and the cluster that answers.',
    answers: jsonAnswer('the caller', whoamiSchema),
    handle: ({ request }, { configuration, version }): Caller => {
      const { label, session, grant, endsAt } = callerOf(request);
      return {
        key: label,
        session,
        ...grant,
        endsAt: Number.isFinite(endsAt) ? endsAt : null,
        address: request.ip,
        nodeId: configuration.nodeId,
        clusterName: configuration.clusterName,
        clusterColor: configuration.clusterColor ?? null,
        version,
      };
    },
  }),
  defineRoute('GET', '/sessions', {
    scope: 'READ',
    reach: 'filtered',
    summary:
      "The sessions of the caller's key, the oldest first. An unrestricted key with scope ALL gets the sessions of all keys.",
    answers: jsonAnswer('sessions', z.array(listedSessionSchema)),
    handle: ({ request }, { keys, sessions, clock }): ListedSession[] => {
      const access = callerOf(request);
      const now = clock.now();
      return [...sessions.entries()]
        .map(([, { value }]) => value)
        .filter((record) => mayEnd(access, record))
        .flatMap((record) => {
          const fields = fieldsOf(record, keys.get(record.key)?.value);
          if (fields === undefined || fields.endsAt <= now) return [];
          const { createdAt, lastUse } = record;
          const isCurrent = record.id === access.session;
          return [{ ...fields, createdAt, lastUsedAt: lastUse.at, lastUsedFrom: lastUse.address, isCurrent }];
        })
        .sort((a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1));
    },
  }),
  defineRoute('POST', '/sessions', {
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
  defineRoute('DELETE', '/sessions/:id', {
    scope: 'READ',
    reach: 'filtered',
    summary: 'Ends a session at once; its open sockets are closed. With `current`: signs out.',
    errors: ['DRV_SESSION_UNKNOWN', 'DRV_STORE_WRITE_FAILED'],
    params: sessionParams,
    answers: jsonAnswer('ended', sessionMessageSchema),
    handle: async ({ params: { id: asked }, request }, { sessions, sessionWrites }) => {
      const access = callerOf(request);
      const id = asked === OWN ? (access.session ?? undefined) : sessionIdSchema.safeParse(asked).data;
      const record = id === undefined ? undefined : sessions.get(id)?.value;
      const isMine = record === undefined ? mayEndAll(access) : mayEnd(access, record);
      if (id === undefined || !isMine || !(await sessionWrites.remove(id))) throw unknownSession(asked);
      request.subject = id;
      return { message: `session ${id} is ended`, id };
    },
  }),
];

/** The caller's access, on routes where the gate lets in only keys and sessions. */
export function callerOf(request: { readonly actor: Actor | null }): Access {
  const access = accessOf(request);
  if (access === undefined) throw internalError('the caller has no key');
  return access;
}

/** Makes a session. Only this answer shows its token. Throws DRV_REQUEST_INVALID. */
export async function createSession(
  { keys, sessionWrites, clock }: RouteNeeds,
  access: Access,
  { scope, expires, address }: z.output<typeof newSessionSchema> & { readonly address: string },
): Promise<CreatedSession> {
  const expiresAt = expires == null ? null : expiryOf(expires, clock.now());
  const { token, record } = await sessionWrites.create(access, { scope: scope ?? null, expiresAt, address });
  const fields = fieldsOf(record, keys.get(record.key)?.value);
  if (fields === undefined)
    throw new DroverError('DRV_KEY_UNKNOWN', `key ${record.key} was deleted just now`);
  return { ...fields, token };
}

type SessionFields = z.output<z.ZodObject<typeof sessionFields>>;

/** The shown fields of a session; undefined: its key is gone, and the session with it. */
function fieldsOf(record: SessionRecord, key: ApiKeyRecord | undefined): SessionFields | undefined {
  const grant = grantOfSession(record, key);
  if (grant === undefined) return undefined;
  return {
    id: record.id,
    key: record.key,
    ...grant,
    expiresAt: grant.expiresAt ?? record.expiresAt,
    endsAt: endOfSession(record, grant),
  };
}

function mayEnd(access: Access, { key }: SessionRecord): boolean {
  return mayEndAll(access) || key === access.label;
}

function mayEndAll(access: Access): boolean {
  return access.may('ALL') && access.configurations === null;
}

/** The error for an unknown session. It repeats the id only when it is well-formed. */
function unknownSession(asked: string): DroverError {
  const isId = sessionIdSchema.safeParse(asked).success;
  const which =
    asked === OWN ? 'session here: the caller is a key' : isId ? `session ${asked}` : 'such session';
  return new DroverError('DRV_SESSION_UNKNOWN', `there is no ${which}. "session list" shows all`);
}
