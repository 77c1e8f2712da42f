/** `/keys`: the keys of the API. Only the answer that makes a key shows its token. */

import { z } from 'zod';
import {
  type ApiKeyRecord,
  keyPatternsSchema,
  keyRangesSchema,
  keyScopeSchema,
} from '../../model/access/api-key.js';
import { hasEnded } from '../../model/access/seen-end.js';
import { invalidRequest } from '../../model/errors.js';
import { nameSchema } from '../../model/names.js';
import { EXPIRY_RULE, parseExpiry } from '../../model/plain/duration.js';
import { defineRoute, jsonAnswer, type Route } from '../http/route.js';

/** The end of a key or session as text, as `parseExpiry` reads it. */
export const expirySchema = z
  .string()
  .refine((text) => parseExpiry(text, 0) !== undefined, { error: EXPIRY_RULE });

const newKeySchema = z.object({
  label: nameSchema.describe('the name of the key'),
  scope: keyScopeSchema,
  configurations: keyPatternsSchema
    .nullish()
    .describe('the configurations that the key sees, as names or patterns such as `lobby*`; null: all'),
  expires: expirySchema
    .default('never')
    .describe('the end of the key: a time from now such as `30d`, a date or an instant, or `never`'),
  from: keyRangesSchema
    .nullish()
    .describe('the addresses that may use the key, or ranges such as `10.0.0.0/8`; null: any'),
});
export type NewKey = z.output<typeof newKeySchema>;
/** The body of `POST /keys`, where the defaults may be left out. */
export type NewKeyRequest = z.input<typeof newKeySchema>;

/** The restrictions of a key, which its sessions have too. */
export const restrictions = {
  configurations: z
    .array(z.string())
    .nullable()
    .describe('patterns of the configurations in sight; null: all'),
  from: z.array(z.string()).nullable().describe('addresses that may use it; null: any'),
};
const lastUsed = {
  lastUsedAt: z.number().nullable().describe('Unix milliseconds, exact to a minute; null: never'),
  lastUsedFrom: z.string().nullable().describe('address of the last use'),
};

const keyFields = {
  label: z.string(),
  scope: keyScopeSchema,
  ...restrictions,
  expiresAt: z.number().nullable().describe('Unix milliseconds; null: never'),
};

const createdKeySchema = z.object({ ...keyFields, token: z.string().describe('the token, shown only here') });

export type CreatedKey = z.output<typeof createdKeySchema>;

export const listedKeySchema = z.object({
  ...keyFields,
  isExpired: z.boolean(),
  ...lastUsed,
  mask: z.string().describe('the beginning and the end of the token'),
  createdAt: z.number().describe('Unix milliseconds'),
});
export type ListedKey = z.output<typeof listedKeySchema>;

const keyMessageSchema = z.object({ message: z.string(), label: z.string() });

const keyParams = z.object({ label: z.string().describe('label of the key') });

export const keyRoutes: readonly Route[] = [
  defineRoute('GET', '/keys', {
    scope: 'READ',
    summary: 'All keys of the API by label, tokens masked.',
    answers: jsonAnswer('keys', z.array(listedKeySchema)),
    handle: (_call, { keys, clock }) =>
      [...keys.entries()]
        .map(([, { value }]) => listed(value, clock.now()))
        .sort((a, b) => (a.label < b.label ? -1 : 1)),
  }),
  defineRoute('POST', '/keys', {
    scope: 'ALL',
    summary: 'Makes a key; only this answer shows its token.',
    errors: ['DRV_KEY_EXISTS', 'DRV_STORE_WRITE_FAILED'],
    body: newKeySchema,
    answers: { 201: { description: 'the new key', schema: createdKeySchema } },
    handle: async ({ body, request }, { keyWrites, clock }, reply): Promise<CreatedKey> => {
      const { label, scope, configurations = null, expires, from = null } = body;
      request.subject = label;
      const expiresAt = expiryOf(expires, clock.now());
      const { token } = await keyWrites.create(label, { scope, configurations, expiresAt, from });
      reply.code(201).header('cache-control', 'no-store');
      return { label, scope, configurations, from, expiresAt, token };
    },
  }),
  defineRoute('DELETE', '/keys/:label', {
    scope: 'ALL',
    summary: 'Revokes a key at once; its open sockets are closed. The last key with scope ALL stays.',
    errors: ['DRV_KEY_UNKNOWN', 'DRV_STORE_WRITE_FAILED'],
    params: keyParams,
    answers: jsonAnswer('revoked', keyMessageSchema),
    handle: async ({ params: { label } }, { keyWrites }) => {
      await keyWrites.remove(label);
      return { message: `key ${label} is deleted`, label };
    },
  }),
];

/** The end in Unix milliseconds; null: never. Throws DRV_REQUEST_INVALID, also for a time in the past. */
export function expiryOf(expires: string, now: number, field = 'expires'): number | null {
  const at = parseExpiry(expires, now);
  if (at === undefined) throw invalidRequest(`${field} ${EXPIRY_RULE}`);
  if (at !== null && at <= now)
    throw invalidRequest(`${field} must be later than now: a date begins at 0:00 UTC`);
  return at;
}

function listed(record: ApiKeyRecord, now: number): ListedKey {
  const { label, mask, createdAt, lastUse, endedAt } = record;
  return {
    label,
    ...record.grant,
    isExpired: hasEnded({ expiresAt: record.grant.expiresAt, endedAt }, now),
    lastUsedAt: lastUse?.at ?? null,
    lastUsedFrom: lastUse?.address ?? null,
    mask,
    createdAt,
  };
}
