/**
 * Sessions: a browser or a person signs in with a key once and gets a session, so that the key itself stays away. This
 * file has the stored record.
 */
import { z } from 'zod';
import { nameSchema, sha256Schema } from '../names.js';
import { type ApiKeyRecord, type Grant, keyScopeSchema, lastUseSchema } from './api-key.js';
import { includesScope } from './key-scopes.js';
import { endedAtSchema } from './seen-end.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** A session ends when it is not used for this long. */
export const SESSION_IDLE_MS = 12 * HOUR_MS;
/** No session is longer than this, however much it is used. */
export const SESSION_MAX_MS = 7 * DAY_MS;

/** The id of a session. It is not secret: lists and the audit trail show it. */
export const sessionIdSchema = z.string().regex(/^[0-9a-f]{12}$/, 'must be 12 hexadecimal digits');

/** Strict, like the grant of a key: a restriction that this master does not know must not be dropped. */
export const sessionRecordSchema = z.strictObject({
  id: sessionIdSchema,
  /** The SHA-256 of the session's token, hex. */
  hash: sha256Schema,
  /**
   * The key that made the session: its label and the hash of its token. A new key under the same label does not match.
   */
  key: nameSchema,
  keyHash: sha256Schema,
  /** The scope of the session, never wider than that of the key. */
  scope: keyScopeSchema,
  createdAt: z.number(),
  /**
   * When the session ends at the latest, in Unix milliseconds by the master's clock. It ends earlier when it is not
   * used.
   */
  expiresAt: z.number(),
  lastUse: lastUseSchema,
  endedAt: endedAtSchema,
});
export type SessionRecord = z.output<typeof sessionRecordSchema>;

/** The rights of a session: its own, narrowed to those of its key. Undefined: the key is gone. */
export function grantOfSession(session: SessionRecord, key: ApiKeyRecord | undefined): Grant | undefined {
  if (key?.hash !== session.keyHash) return undefined;
  const { grant } = key;
  const { configurations, from } = grant;
  return {
    scope: includesScope(grant.scope, session.scope) ? session.scope : grant.scope,
    configurations,
    from,
    expiresAt: Math.min(session.expiresAt, grant.expiresAt ?? session.expiresAt),
  };
}

/**
 * When a session ends unless it is used before, in Unix milliseconds; 0: it has ended. `grant`: the result of
 * `grantOfSession`.
 */
export function endOfSession({ expiresAt, lastUse, endedAt }: SessionRecord, grant: Grant): number {
  if (endedAt !== undefined) return 0;
  return Math.min(expiresAt, grant.expiresAt ?? expiresAt, lastUse.at + SESSION_IDLE_MS);
}
