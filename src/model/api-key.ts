/** API keys: scopes and the stored record. The token itself is never stored; see `src/api/access/auth.ts`. */
import { z } from 'zod';
import { nameSchema } from './names.js';

export const keyScopeSchema = z.enum(['ALL', 'PUBLIC']);
export type KeyScope = z.output<typeof keyScopeSchema>;

export const apiKeyRecordSchema = z.object({
  label: nameSchema,
  scope: keyScopeSchema,
  /** SHA-256 of the token, hex. */
  hash: z.string().regex(/^[0-9a-f]{64}$/),
  /** What `key list` shows: prefix and last characters. */
  mask: z.string(),
  createdAt: z.number(),
});
export type ApiKeyRecord = z.output<typeof apiKeyRecordSchema>;
