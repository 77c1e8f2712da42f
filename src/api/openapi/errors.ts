/** The error answers in the API's description: one named response for each status. */
import { z } from 'zod';
import type { ZodOpenApiResponseObject } from 'zod-openapi';

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

interface ErrorKind {
  readonly name: string;
  readonly description: string;
}

const ERRORS: Readonly<Record<number | 'default', ErrorKind>> = {
  400: { name: 'BadRequest', description: 'The request is not valid here; the error names the place.' },
  401: {
    name: 'Unauthorized',
    description: 'No valid key, an expired key (`WWW-Authenticate` says so), or a PUBLIC key.',
  },
  403: {
    name: 'Forbidden',
    description:
      'The key may not do this: its scope, its configurations or the address; the error says which.',
  },
  404: { name: 'NotFound', description: 'There is no object of the name in the path.' },
  408: { name: 'RequestTimeout', description: 'The body did not arrive in time.' },
  409: { name: 'Conflict', description: 'The state of the object does not allow this.' },
  412: {
    name: 'PreconditionFailed',
    description: 'The object does not match `If-Match` or `If-None-Match`; nothing was changed.',
  },
  413: { name: 'TooLarge', description: 'The body is larger than the server takes.' },
  415: {
    name: 'UnsupportedMediaType',
    description: 'This endpoint does not take the content type of the body.',
  },
  426: { name: 'UpgradeRequired', description: 'This endpoint is a WebSocket: send an upgrade request.' },
  429: {
    name: 'RateLimited',
    description: 'Too many calls; `Retry-After` and `retryAfterMs` say how long to wait.',
  },
  500: {
    name: 'Failed',
    description: 'The server cannot do this; the error says what its operator must mend.',
  },
  501: { name: 'NotImplemented', description: 'The endpoint is defined, but not implemented.' },
  502: {
    name: 'BadGateway',
    description:
      'A node or a storage provider that was asked did not do its part; or the leader of several masters went away before it answered.',
  },
  503: {
    name: 'Unavailable',
    description: 'Not now: the master still loads its state, none of several leads, or a node is away.',
  },
  507: {
    name: 'InsufficientStorage',
    description: 'The disk of the server is full or failed; nothing was changed.',
  },
  default: { name: 'Fault', description: 'A fault of the server that should not happen; its log says more.' },
};

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
    throw new Error(`errors with status ${status} are not described in openapi/errors.ts`);
  return { $ref: RESPONSE_REF + kind.name };
}
