/** Sessions: what a browser or a person gets for a key, so that the key itself stays away. The stored record. */
import { z } from 'zod';
import { nameSchema } from '../names.js';
import { type ApiKeyRecord, type Grant, grantOf, keyScopeSchema, lastUseSchema } from './api-key.js';
import { includesScope } from './key-scopes.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** A session that is not used for so long has ended. */
export const SESSION_IDLE_MS = 12 * HOUR_MS;
/** No session is longer than this, however much it is used. */
export const SESSION_MAX_MS = 7 * DAY_MS;

/** Id of a session: not secret, shown in lists and in the audit trail. */
export const sessionIdSchema = z.string().regex(/^[0-9a-f]{12}$/, 'must be 12 hexadecimal digits');

const sha256Schema = z.string().regex(/^[0-9a-f]{64}$/);

/** Strict, like the grant of a key: a restriction that this master does not know must not be dropped. */
export const sessionRecordSchema = z.strictObject({
  id: sessionIdSchema,
  /** SHA-256 of the session's token, hex. */
  hash: sha256Schema,
  /** Label of the key that it was made with, and the hash of that key's token: another key of the label is not it. */
  key: nameSchema,
  keyHash: sha256Schema,
  /** Never wider than that of the key. */
  scope: keyScopeSchema,
  createdAt: z.number(),
  /** Unix milliseconds by the master's clock. The session ends earlier when it is not used. */
  expiresAt: z.number(),
  lastUse: lastUseSchema,
});
export type SessionRecord = z.output<typeof sessionRecordSchema>;

/** What a session allows: the narrower of its own and its key's. Undefined: its key is gone. */
export function grantOfSession(session: SessionRecord, key: ApiKeyRecord | undefined): Grant | undefined {
  if (key?.hash !== session.keyHash) return undefined;
  const grant = grantOf(key);
  const { configurations, from } = grant;
  return {
    scope: includesScope(grant.scope, session.scope) ? session.scope : grant.scope,
    configurations,
    from,
    expiresAt: Math.min(session.expiresAt, grant.expiresAt ?? session.expiresAt),
  };
}

/** When a session ends unless it is used before. Unix milliseconds; `grant`: what `grantOfSession` returned. */
export function endOfSession({ expiresAt, lastUse }: SessionRecord, grant: Grant): number {
  return Math.min(expiresAt, grant.expiresAt ?? expiresAt, lastUse.at + SESSION_IDLE_MS);
}
