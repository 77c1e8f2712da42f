/**
 * API keys: scopes, restrictions, and the stored record. The token itself is never stored; see
 * `src/api/gate/auth.ts`.
 */
import { z } from 'zod';
import { nameSchema, sha256Schema } from '../names.js';
import { MAX_KEY_ENTRIES } from '../plain/command-limits.js';
import { ADDRESS_RANGE_RULE, isAddressRange, MAX_RANGE_CHARS } from './address-range.js';
import { KEY_SCOPES, type KeyScope } from './key-scopes.js';
import { NAME_PATTERN, NAME_PATTERN_RULE } from './name-pattern.js';
import { endedAtSchema } from './seen-end.js';

export const keyScopeSchema = z.enum(KEY_SCOPES);

export const namePatternSchema = z.string().regex(NAME_PATTERN, NAME_PATTERN_RULE);
export const addressRangeSchema = z
  .string()
  .max(MAX_RANGE_CHARS, ADDRESS_RANGE_RULE)
  .refine(isAddressRange, { error: ADDRESS_RANGE_RULE });
export const keyPatternsSchema = z.array(namePatternSchema).min(1).max(MAX_KEY_ENTRIES);
export const keyRangesSchema = z.array(addressRangeSchema).min(1).max(MAX_KEY_ENTRIES);

/**
 * The rights of a key. Strict: a master must refuse a record with a restriction that it does not know, and must not
 * read the key as unrestricted.
 */
const grantSchema = z.strictObject({
  scope: keyScopeSchema,
  /** Patterns of the configurations that the key sees, with their instances; null: all. */
  configurations: keyPatternsSchema.nullable(),
  /** When the key ends, in Unix milliseconds by the master's clock; null: never. */
  expiresAt: z.number().nullable(),
  /** The addresses that the key may be used from; null: any. */
  from: keyRangesSchema.nullable(),
});
export type Grant = z.output<typeof grantSchema>;

/** When and from where a key or session was used last. Written at most once a minute. */
export const lastUseSchema = z.object({ at: z.number(), address: z.string() });
export type LastUse = z.output<typeof lastUseSchema>;

export const apiKeyRecordSchema = z.object({
  label: nameSchema,
  /** The SHA-256 of the token, hex. */
  hash: sha256Schema,
  /** The prefix and the last characters of the token, for `key list`. */
  mask: z.string(),
  createdAt: z.number(),
  lastUse: lastUseSchema.optional(),
  endedAt: endedAtSchema,
  grant: grantSchema,
});
export type ApiKeyRecord = z.output<typeof apiKeyRecordSchema>;

/** A grant with the whole scope, for ever and from anywhere. */
export function withoutLimits(scope: KeyScope): Grant {
  return { scope, configurations: null, expiresAt: null, from: null };
}

/** True for a key that may do everything, for ever and from anywhere. At least one such key must always remain. */
export function isMasterKey({ grant }: ApiKeyRecord): boolean {
  const { scope, configurations, expiresAt, from } = grant;
  return scope === 'ALL' && configurations === null && expiresAt === null && from === null;
}
