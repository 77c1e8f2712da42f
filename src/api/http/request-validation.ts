/** Checks the input of clients against a zod schema. The error names the field, the fault and the fix. */
import type { z } from 'zod';
import { DroverError } from '../../model/errors.js';

const MAX_ISSUES = 3;

/**
 * The value that the schema makes of `value`. Throws DRV_REQUEST_INVALID; `part` names the place of the value. When
 * there is no schema, returns `value` itself, whose type the handler then does not know.
 */
export function parseRequest<T>(
  schema: z.ZodType<T> | undefined,
  value: unknown,
  part: 'path' | 'query' | 'body',
): T {
  // A route that has no schema leaves its T to inference, which makes it `unknown`.
  if (schema === undefined) return value as T;
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
