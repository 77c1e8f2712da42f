/** Values that the node sets in settings files before each start. */
import { z } from 'zod';

/** A path inside the working directory: relative, forward slashes, no empty, "." or ".." segment. */
export const workspacePathSchema = z
  .string()
  .min(1)
  .max(1024)
  .refine(
    (path) =>
      !path.includes('\0') &&
      !path.includes('\\') &&
      path.split('/').every((segment) => segment !== '' && segment !== '.' && segment !== '..'),
    { error: 'must be a relative path with forward slashes and without "." or ".." segments' },
  );

const MOST_FILES = 64;
const MOST_KEYS = 256;

const editKeySchema = z
  .string()
  .regex(/^(?=.*\S)[^\0\r\n]{1,512}$/, 'key must be one line of 1 to 512 characters, not all blank');

const editValueSchema = z.union([
  z
    .string()
    .max(32_768)
    .refine((value) => !value.includes('\0'), { error: 'must not contain a NUL character' }),
  z.number(),
  z.boolean(),
]);

const fileEditSchema = z.object({
  path: workspacePathSchema,
  format: z.enum(['properties', 'yaml', 'json', 'ini', 'toml', 'xml', 'text']),
  set: z.record(editKeySchema, editValueSchema).refine((set) => Object.keys(set).length <= MOST_KEYS, {
    error: `must have at most ${MOST_KEYS} entries`,
  }),
});
export type FileEdit = z.output<typeof fileEditSchema>;

export const fileEditsSchema = z.array(fileEditSchema).max(MOST_FILES);
