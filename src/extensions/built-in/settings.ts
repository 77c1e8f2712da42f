/** Checks the settings of a built-in extension. Messages name the field and never contain a value. */
import { z } from 'zod';
import { problemsText, readerOf } from '../../configuration-files/problems.js';
import { nameSchema } from '../../model/names.js';

/** The settings of all storages of an extension, by their keys. */
export function storagesSchema<T extends z.ZodType>(storage: T) {
  return z.strictObject({ storages: z.record(nameSchema, storage) });
}

/** Returns the function that reads settings. It throws an Error whose single sentence names the wrong fields. */
export function settingsReader<T>(schema: z.ZodType<T>): (settings: unknown) => T {
  const read = readerOf(schema, () => false);
  return (settings) => {
    const result = read(settings);
    if ('data' in result) return result.data;
    throw new Error(`config.json: ${problemsText(result.problems)}`);
  };
}

export const storageUrlSchema = z
  .url({ protocol: /^https?$/, error: 'must be a URL that begins with http:// or https://' })
  .refine((text) => URL.canParse(text) && new URL(text).username === '' && new URL(text).password === '', {
    error: 'must not hold a user name or password',
  });
