/**
 * A route as data: its callers, its input and answers as zod schemas, and its handler. The schemas check requests here
 * and describe the API in `openapi/`. Answers do not pass through the schemas, so that prebuilt bytes can be sent
 * unchanged.
 */
import type { Readable } from 'node:stream';
import type {
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  preHandlerHookHandler,
  RouteHandlerMethod,
} from 'fastify';
import { z } from 'zod';
import { fieldName, moreText, readerOf } from '../../configuration-files/problems.js';
import type { MaybePromise } from '../../loop/maybe-promise.js';
import type { KeyScope } from '../../model/access/key-scopes.js';
import { type ErrorCode, invalidRequest } from '../../model/errors.js';
import type { RouteNeeds } from '../dependencies.js';
import { BodyStream } from './body-stream.js';

/** How many faults of one input an error names. */
const MAX_FAULTS = 3;
const DIGITS = /^\d{1,16}$/;

/** A query parameter that is `true` or `false`; default `false`. */
export const flag = z.enum(['true', 'false']).default('false');

/** A query parameter that is a whole number in digits. */
export function wholeNumber(min: number, max: number = Number.MAX_SAFE_INTEGER) {
  const ofText = (text: unknown): unknown =>
    typeof text === 'string' && DIGITS.test(text) ? Number(text) : text;
  return z.preprocess(ofText, z.int().min(min).max(max));
}

/**
 * The least rights that a caller needs.
 *
 * - `open`: no key.
 * - A scope: a key or session with this scope or a wider one.
 * - `instance-or-OPERATE`: the scope OPERATE, or the token of the instance that the path's `id` names.
 */
export type Scope = 'open' | KeyScope | 'instance-or-OPERATE';

/**
 * How the route treats a key that is restricted to configurations. Absent: the route concerns more than configurations,
 * and refuses the key with 403.
 *
 * - `instance`, `configuration`: concerns the object that the path's `id` or `name` names. Where the key does not see
 *   it, the answer is as if it did not exist.
 * - `bad-instance`: the same, with 400.
 * - `new-configuration`: the same, with 403.
 * - `filtered`: the handler leaves out what the key does not see.
 */
export type Reach = 'instance' | 'bad-instance' | 'configuration' | 'new-configuration' | 'filtered';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

declare module 'fastify' {
  interface FastifyInstance {
    /** Gives a handler a limit for its waiting: `limitHandlers`. */
    readonly limited: (handler: RouteHandlerMethod) => RouteHandlerMethod;
  }
  interface FastifyRequest {
    /** True: a command of the console sent it, without a connection. */
    isOwn: boolean;
  }
}

export interface Answer {
  readonly description: string;
  /** The schema of a JSON body. Absent: the body is not JSON. */
  readonly schema?: z.ZodType;
  /** Default: application/json. */
  readonly contentType?: string;
}

/** The part that the descriptions of routes and of sockets have in common. */
export interface EndpointDescription {
  /** The path below `/api`; parameters as `:id`. */
  readonly path: string;
  readonly scope: Scope;
  readonly reach?: Reach;
  readonly summary: string;
  /**
   * The errors of this endpoint, beside those of every endpoint (a bad request, no key, too many calls, not ready) and of
   * its `reach` (no such instance or configuration).
   */
  readonly errors?: readonly ErrorCode[];
  /** The schemas of parameters and query. Absent: the endpoint does not look at them. */
  readonly params?: z.ZodType;
  readonly query?: z.ZodType;
}

/** A route without its handler: everything that its description needs. */
export interface RouteDescription extends EndpointDescription {
  readonly method: Method;
  /**
   * True: each of several masters answers itself, leading or not, because the answer is about this node or is the same
   * everywhere. The handler may use no part that only a leader has.
   */
  readonly isOwn?: true;
  /** The answers of success, by status. Every error answer is `{error, code}`. */
  readonly answers: Readonly<Record<number, Answer>>;
  /** The schema of the body. Absent: the route does not look at it. */
  readonly body?: z.ZodType;
  /** Stands for a body that is not there. Default: `{}`. */
  readonly absentBody?: object;
  /** The headers that the handler reads itself, for the description. */
  readonly headers?: z.ZodObject;
  /** The schema of the body in the description, where `body` accepts anything because another part checks it. */
  readonly documentedBody?: z.ZodType;
  /** The content types of a body that is taken as bytes, for the description. */
  readonly bodyTypes?: readonly string[];
}

export interface Route extends RouteDescription {
  register(server: FastifyInstance, needs: RouteNeeds): void;
}

export interface RouteCall<Params, Query, Body> {
  readonly params: Params;
  readonly query: Query;
  readonly body: Body;
  /**
   * The body as a stream, limited in size and pauses, for a route with `bodyStream`. For other routes, `body` holds the
   * parsed body.
   */
  readonly stream: Readable;
  readonly request: FastifyRequest;
}

interface RouteSpec<P, Q, B> extends Omit<RouteDescription, 'method' | 'path'> {
  readonly params?: z.ZodType<P>;
  readonly query?: z.ZodType<Q>;
  readonly body?: z.ZodType<B>;
  /**
   * True: the handler gets the unread body as `call.stream`, and has no `body`. Any content type is taken, up to
   * maxUploadMB. DRV_REQUEST_TOO_LARGE refuses a larger body, before a byte is read if Content-Length tells its size.
   * An upload may last as long as bytes come. After the answer, an unread rest is thrown away.
   */
  readonly bodyStream?: true;
  /**
   * True: the work limits its own time, such as a download. The request has no timer, and nothing is sent meanwhile.
   */
  readonly isUntimed?: true;
  /** The most values that the JSON body may hold. Default: those of one configuration. */
  readonly mostValues?: number;
  /** True: the answer is a stream, and may last as long as its reader reads. */
  readonly answerStream?: true;
  /** Returns the value to answer with as JSON, or undefined when it has answered through `reply`. */
  handle(call: RouteCall<P, Q, B>, needs: RouteNeeds, reply: FastifyReply): MaybePromise<unknown>;
}

/** The answers of a route whose only success is a 200 with JSON. */
export function jsonAnswer(description: string, schema: z.ZodType): RouteDescription['answers'] {
  return { 200: { description, schema } };
}

/** Binds a handler to its method, path and schemas, and hides their types, so that all routes fit into one table. */
export function defineRoute<P, Q, B>(method: Method, path: string, described: RouteSpec<P, Q, B>): Route {
  const spec = { ...described, method, path };
  const callOf = callReader(spec);
  const register = (server: FastifyInstance, needs: RouteNeeds): void =>
    addRoute(server, spec, (request, reply) => {
      if (spec.bodyStream !== true) return spec.handle(callOf(request), needs, reply);
      const stream = new BodyStream(request.raw, server.uploadLimits);
      reply.raw.once('close', () => stream.destroy());
      return spec.handle(callOf(request, stream), needs, reply);
    });
  return { ...spec, register };
}

function addRoute<P, Q, B>(
  server: FastifyInstance,
  spec: RouteSpec<P, Q, B> & Pick<RouteDescription, 'method' | 'path'>,
  handler: RouteHandlerMethod,
): void {
  const isTimed = [spec.isUntimed, spec.bodyStream, spec.answerStream].every((is) => is !== true);
  server.route({
    method: spec.method,
    url: spec.path,
    config: {
      scope: spec.scope,
      ...(spec.reach !== undefined && { reach: spec.reach }),
      ...(spec.isOwn === true && { isOwn: true }),
      ...(spec.bodyStream === true && { takes: 'stream' }),
      ...(spec.body !== undefined && { takes: 'json' }),
      ...(spec.mostValues !== undefined && { mostValues: spec.mostValues }),
    },
    ...(spec.isUntimed === true && { preHandler: allowSilence }),
    handler: isTimed ? server.limited(handler) : handler,
  });
}

/** Takes the time limit off the connection until the answer is sent. Then the server's own limits hold again. */
const allowSilence: preHandlerHookHandler = (request, reply, done) => {
  if (!request.isOwn) reply.raw.setTimeout(0);
  done();
};

/**
 * Returns the function that checks the input of a request against the schemas of its endpoint. It throws
 * DRV_REQUEST_INVALID, which names the field, the fault and the fix.
 */
export function callReader<P, Q, B>({
  params,
  query,
  body,
  absentBody = {},
}: Pick<RouteSpec<P, Q, B>, 'params' | 'query' | 'body' | 'absentBody'>): (
  request: FastifyRequest,
  stream?: Readable,
) => RouteCall<P, Q, B> {
  const readParams = partReader(params, 'path');
  const readQuery = partReader(query, 'query');
  const readBody = partReader(body, 'body');
  return (request, stream = request.raw) => ({
    params: readParams(request.params),
    query: readQuery(request.query),
    body: readBody(request.body === undefined ? absentBody : request.body),
    stream,
    request,
  });
}

/** Reads a part of a request; when there is no schema, returns the part itself, whose type is not known. */
function partReader<T>(
  schema: z.ZodType<T> | undefined,
  part: 'path' | 'query' | 'body',
): (value: unknown) => T {
  // When a route has no schema, T is inferred as `unknown`, so the cast is safe.
  if (schema === undefined) return (value) => value as T;
  const read = readerOf(schema);
  return (value) => {
    const result = read(value);
    if ('data' in result) return result.data;
    const { first, more } = result.problems;
    const faults = first.slice(0, MAX_FAULTS).map(({ path, message }) => {
      const place = path.length === 0 ? part : `${part} field ${fieldName(path)}`;
      return `${place}: ${message}`;
    });
    throw invalidRequest(faults.join('; ') + moreText(more + first.length - faults.length));
  };
}
