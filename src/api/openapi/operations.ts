/** Describes one endpoint as an operation of the document: parameters, body, answers and errors. */
import { z } from 'zod';
import type {
  ZodOpenApiContentObject,
  ZodOpenApiOperationObject,
  ZodOpenApiParameters,
  ZodOpenApiRequestBodyObject,
  ZodOpenApiResponsesObject,
} from 'zod-openapi';
import { statusOfCode } from '../../model/errors.js';
import type { Answer, Reach, RouteDescription, Scope } from '../http/route.js';
import type { SocketDescription } from '../sockets/socket.js';
import { securityOf } from './components.js';
import { errorResponse } from './errors.js';
import { operationId, tagOf } from './names.js';

const JSON_TYPE = 'application/json';

/** Describes a route. Throws when `operation-ids.json` has no name for it. */
export function routeOperation(route: RouteDescription): ZodOpenApiOperationObject {
  const requestBody = bodyOf(route);
  return {
    operationId: operationId(route.method, route.path),
    tags: [tagOf(route.path)],
    summary: route.summary,
    description: callersOf(route),
    ...accessOf(route),
    ...parametersOf(route),
    ...(requestBody !== undefined && { requestBody }),
    responses: { ...successes(route), ...failures(route, bodyFailures(route)) },
  };
}

/** Describes a socket endpoint, as a GET that answers 101. */
export function socketOperation(socket: SocketDescription): ZodOpenApiOperationObject {
  return {
    operationId: operationId('GET', socket.path),
    tags: [tagOf(socket.path)],
    summary: socket.summary,
    description: `WebSocket. ${socket.frames} ${callersOf(socket)}`,
    ...accessOf(socket),
    ...parametersOf(socket),
    responses: {
      101: { description: 'Switching Protocols: the socket is open' },
      ...(socket.lines !== undefined && {
        200: {
          description:
            'the answer to a GET that asks for no upgrade: one message per line, until either side ends it',
          content: { [essenceOf(socket.lines.contentType)]: { schema: { type: 'string' } } },
        },
      }),
      ...failures(socket, socket.lines === undefined ? [426] : []),
    },
  };
}

/** Who may call an endpoint, and which of several masters answers, in words. */
function callersOf({ scope, reach, isOwn }: Pick<Endpoint, 'scope' | 'reach' | 'isOwn'>): string {
  const keys =
    scope === 'open'
      ? 'Needs no key.'
      : `${KEYS[scope] ?? `Needs a key with scope ${scope} or a wider one.`}`;
  const restricted = scope === 'open' ? [] : [REACHES[reach ?? 'none']];
  const master = isOwn === true ? ['Each of several masters answers for itself.'] : [];
  return [keys, ...restricted, ...master].join(' ');
}

const KEYS: Readonly<Partial<Record<Scope, string>>> = {
  PUBLIC: 'Needs a key with any scope.',
  ALL: 'Needs a key with scope ALL.',
  'instance-or-OPERATE': "Needs a key with scope OPERATE or a wider one, or the instance's own.",
};
const NOT_SEEN = 'For a key that is restricted to other configurations the object is not there.';
const REACHES: Readonly<Record<Reach | 'none', string>> = {
  none: 'A key that is restricted to configurations may not call it.',
  filtered: 'A key that is restricted to configurations gets what it sees.',
  instance: NOT_SEEN,
  'bad-instance': NOT_SEEN,
  configuration: NOT_SEEN,
  'new-configuration': 'A key that is restricted to other configurations may not call it.',
};

function accessOf({
  scope,
}: Pick<Endpoint, 'scope'>): Pick<ZodOpenApiOperationObject, 'security' | 'x-scope'> {
  return { security: securityOf(scope), 'x-scope': scope };
}

/** The type of a content without its parameters, by which an answer is looked up. */
function essenceOf(contentType: string): string {
  return contentType.replace(/;.*$/s, '');
}

type Endpoint = Pick<
  RouteDescription,
  'path' | 'scope' | 'reach' | 'isOwn' | 'params' | 'query' | 'errors' | 'headers'
>;

function parametersOf({ params, query, headers }: Endpoint): { requestParams?: ZodOpenApiParameters } {
  const path = params === undefined ? undefined : pathParameters(params);
  const requestParams = {
    ...(path !== undefined && { path }),
    ...(query !== undefined && { query: objectOf(query) }),
    ...(headers !== undefined && { header: headers }),
  };
  return Object.keys(requestParams).length === 0 ? {} : { requestParams };
}

/**
 * The parameters of a path. The rest of a path, which the router calls `*`, gets the name `path`, which a client can
 * fill in.
 */
function pathParameters(params: z.ZodType): z.ZodObject {
  const { '*': rest, ...others } = objectOf(params).shape;
  return z.object({ ...others, ...(rest !== undefined && { path: rest }) });
}

function objectOf(schema: z.ZodType): z.ZodObject {
  if (schema instanceof z.ZodObject) return schema;
  throw new Error('parameters and query of a route are described by an object schema');
}

function bodyOf({
  body,
  absentBody = {},
  documentedBody,
  bodyTypes,
}: RouteDescription): ZodOpenApiRequestBodyObject | undefined {
  if (bodyTypes !== undefined)
    return {
      required: true,
      content: Object.fromEntries(bodyTypes.map((type) => [type, { schema: rawSchema(type) }])),
    };
  const schema = documentedBody ?? body;
  if (schema === undefined) return undefined;
  return { required: !schema.safeParse(absentBody).success, content: { [JSON_TYPE]: { schema } } };
}

function successes({ answers }: RouteDescription): ZodOpenApiResponsesObject {
  return Object.fromEntries(
    Object.entries(answers).map(([status, answer]) => [
      status,
      { description: answer.description, ...contentOf(answer) },
    ]),
  );
}

function contentOf({ schema, contentType = JSON_TYPE }: Answer): { content?: ZodOpenApiContentObject } {
  if (schema !== undefined) return { content: { [contentType]: { schema } } };
  if (contentType === JSON_TYPE) return {};
  return { content: { [contentType]: { schema: rawSchema(contentType) } } };
}

/** The schema of content that is not JSON: text, or bytes. */
function rawSchema(contentType: string): { type: 'string'; format?: string } {
  return contentType.startsWith('text/') ? { type: 'string' } : { type: 'string', format: 'binary' };
}

/** The statuses with which a route may refuse its body. */
function bodyFailures({ body, bodyTypes }: RouteDescription): readonly number[] {
  return body === undefined && bodyTypes === undefined ? [] : [408, 413, 415];
}

/** All errors of an endpoint, by status. `default` is a fault of the server, on which no client may rely. */
function failures(endpoint: Endpoint, more: readonly number[]): ZodOpenApiResponsesObject {
  const statuses = new Set([
    400,
    429,
    ...more,
    ...(endpoint.errors ?? []).map(statusOfCode),
    ...(endpoint.reach === 'instance' || endpoint.reach === 'configuration' ? [404] : []),
    ...(endpoint.scope === 'open' ? [] : [401, 403]),
    // A master that does not lead gives these answers: 502 when the leader was lost during the answer, 503 when there
    // is no leader.
    ...(endpoint.isOwn === true ? [] : [502]),
    ...(endpoint.isOwn === true && endpoint.scope === 'open' ? [] : [503]),
  ]);
  const sorted = [...statuses].sort((a, b) => a - b);
  return {
    ...Object.fromEntries(sorted.map((status) => [status, errorResponse(status)])),
    default: errorResponse('default'),
  };
}
