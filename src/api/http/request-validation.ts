/** Checks what a client sent against a zod schema, and says what is wrong in words: the field, the fault, the fix. */
import type { z } from 'zod';
import { DroverError } from '../../model/errors.js';

const MAX_ISSUES = 3;

/** `value` as the schema gives it back. Throws DRV_REQUEST_INVALID; `part` names where the value came from. */
export function parseRequest<T>(schema: z.ZodType<T>, value: unknown, part: 'path' | 'query' | 'body'): T {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const issues = result.error.issues.slice(0, MAX_ISSUES).map((issue) => describe(issue, part));
  throw new DroverError('DRV_REQUEST_INVALID', issues.join('; '));
}

function describe({ path, message }: z.core.$ZodIssue, part: string): string {
  return path.length === 0
    ? `${part}: ${message}`
    : `${part} field ${path.map(String).join('.')}: ${message}`;
}
