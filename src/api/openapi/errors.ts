/** The error answers in the API's description: one named response for each status. */
import { z } from 'zod';
import type { ZodOpenApiResponseObject } from 'zod-openapi';
import errors from './errors.json' with { type: 'json' };

const RESPONSE_REF = '#/components/responses/';

export const errorAnswer = z.object({
  error: z.string().describe('the fault, and what would be right'),
  code: z
    .string()
    .describe('the kind of the error for programs, such as `DRV_INSTANCE_UNKNOWN`; there may be more'),
});
export const rateLimitAnswer = errorAnswer.extend({
  retryAfterMs: z.int().min(0).describe('how long to wait before the next call'),
  message: z.string().optional(),
});

/** The name and the description of the errors, by status. `default` is a fault of the server. */
const ERRORS: Readonly<Record<string, { readonly name: string; readonly description: string }>> = errors;

/** The responses by name, for `components.responses`. */
export const ERROR_RESPONSES: Readonly<Record<string, ZodOpenApiResponseObject>> = Object.fromEntries(
  Object.entries(ERRORS).map(([status, { name, description }]) => [name, describeError(status, description)]),
);

function describeError(status: string, description: string): ZodOpenApiResponseObject {
  const isLimit = status === '429';
  return {
    description,
    content: { 'application/json': { schema: isLimit ? rateLimitAnswer : errorAnswer } },
    ...(isLimit && {
      headers: { 'Retry-After': { description: 'seconds', schema: { type: 'integer' as const } } },
    }),
  };
}

/** Returns a reference to the response of this status. Throws when ERRORS has no such status. */
export function errorResponse(status: number | 'default'): { $ref: string } {
  const kind = ERRORS[status];
  if (kind === undefined)
    throw new Error(`errors with status ${status} are not described in openapi/errors.json`);
  return { $ref: RESPONSE_REF + kind.name };
}
