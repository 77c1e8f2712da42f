/** Makes, lists and deletes API keys for operators: `key ...` and its routes. */
import { z } from 'zod';
import type { KeyWriter } from '../api/access/key-writer.js';
import { type ApiKeyRecord, type KeyScope, keyScopeSchema } from '../model/api-key.js';
import { nameSchema } from '../model/names.js';
import type { MirrorReader } from '../store/mirror.js';

export interface KeyNeeds {
  readonly keys: Pick<MirrorReader<ApiKeyRecord>, 'entries'>;
  readonly keyWrites: Pick<KeyWriter, 'create' | 'remove'>;
}

export const newKeySchema = z.object({
  label: nameSchema.describe('what the key is called'),
  scope: keyScopeSchema,
});

export const createdKeySchema = z.object({
  label: z.string(),
  scope: keyScopeSchema,
  token: z.string().describe('shown this once'),
});

export const listedKeySchema = z.object({
  label: z.string(),
  scope: keyScopeSchema,
  mask: z.string().describe('beginning and end of the token'),
  createdAt: z.number().describe('Unix milliseconds'),
});

export const keyMessageSchema = z.object({ message: z.string(), label: z.string() });

/** Makes a key. Only this answer shows its token. Throws DRV_KEY_EXISTS, DRV_REQUEST_INVALID. */
export async function createKey(
  { keyWrites }: KeyNeeds,
  { label, scope }: { readonly label: string; readonly scope: KeyScope },
): Promise<z.output<typeof createdKeySchema>> {
  const { token } = await keyWrites.create(label, scope);
  return { label, scope, token };
}

/** All keys by label, without their hashes. */
export function listKeys({ keys }: KeyNeeds): z.output<typeof listedKeySchema>[] {
  return [...keys.entries()]
    .map(
      ([
        ,
        {
          value: { label, scope, mask, createdAt },
        },
      ]) => ({ label, scope, mask, createdAt }),
    )
    .sort((a, b) => (a.label < b.label ? -1 : 1));
}

/** Deletes a key. Throws DRV_KEY_UNKNOWN, and DRV_REQUEST_INVALID for the last ALL key. */
export async function deleteKey(
  { keyWrites }: KeyNeeds,
  label: string,
): Promise<z.output<typeof keyMessageSchema>> {
  await keyWrites.remove(label);
  return { message: `key ${label} is deleted`, label };
}
