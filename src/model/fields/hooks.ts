/** Commands that a node runs around the runs of an instance. */
import { z } from 'zod';

/** A shell command line. `/bin/sh -c` runs it in the working directory. */
export const commandSchema = z
  .string()
  .min(1)
  .max(65_536)
  .refine((text) => !text.includes('\0'), { error: 'must not contain a NUL character' });

const hookSchema = z.object({
  command: commandSchema,
  timeoutSeconds: z.int().min(1).max(86_400).default(600),
});
export type HookCommand = z.output<typeof hookSchema>;

export const afterSchema = z.array(hookSchema).max(16);
export const prepareSchema = z
  .array(
    hookSchema.extend({
      when: z
        .enum(['install', 'start'])
        .default('start')
        .describe('`install`: in a new directory; `start`: before every start'),
    }),
  )
  .max(16);
