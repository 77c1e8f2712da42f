/** Checks the settings of a built-in extension. Messages name the field and never contain a value. */
import { z } from 'zod';
import { nameSchema } from '../../model/names.js';

/** The settings of all storages of an extension, by their keys. */
export function storagesSchema<T extends z.ZodType>(storage: T) {
  return z.strictObject({ storages: z.record(nameSchema, storage) });
}

/** Parses the settings. Throws an Error whose single sentence names every wrong field. */
export function parseSettings<T>(schema: z.ZodType<T>, settings: unknown): T {
  const parsed = schema.safeParse(settings);
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map((issue) => {
    const field = issue.path.map(String).join('.');
    // For an invalid key, the useful message lies one level deeper.
    const message = (issue.code === 'invalid_key' ? issue.issues[0]?.message : undefined) ?? issue.message;
    return field === '' ? message : `${field}: ${message}`;
  });
  throw new Error(`config.json: ${problems.join('; ')}`);
}

export const storageUrlSchema = z
  .url({ protocol: /^https?$/, error: 'must be a URL that begins with http:// or https://' })
  .refine((text) => URL.canParse(text) && new URL(text).username === '' && new URL(text).password === '', {
    error: 'must not hold a user name or password',
  });
