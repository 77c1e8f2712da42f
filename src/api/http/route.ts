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
import type { MaybePromise } from '../../loop/maybe-promise.js';
import type { KeyScope } from '../../model/access/key-scopes.js';
import { DroverError, type ErrorCode } from '../../model/errors.js';
import type { RouteNeeds } from '../dependencies.js';
import { BodyStream } from './body-stream.js';

/** How many faults of one input an error names. */
const MAX_ISSUES = 3;

/** A query parameter that is `true` or `false`; default `false`. */
export const flag = z.enum(['true', 'false'], { error: 'must be true or false' }).default('false');

/** A query parameter that is a whole number. */
export function wholeNumber(min: number, max: number): z.ZodCoercedNumber {
  const rule = `must be a whole number from ${min} to ${max}`;
  return z.coerce.number({ error: rule }).int(rule).min(min, rule).max(max, rule);
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

/** A route without its handler: everything that its description needs. */
export interface RouteDescription {
  readonly method: Method;
  /** The path below `/api`; parameters as `:id`. */
  readonly path: string;
  readonly scope: Scope;
  readonly reach?: Reach;
  readonly summary: string;
  /** The answers of success, by status. Every error answer is `{error, code}`. */
  readonly answers: Readonly<Record<number, Answer>>;
  /** The errors of this route, beside those of every route (a bad request, no key, too many calls, not ready). */
  readonly errors?: readonly ErrorCode[];
  /** The schemas of parameters, query and body. Absent: the route does not look at them. */
  readonly params?: z.ZodType;
  readonly query?: z.ZodType;
  readonly body?: z.ZodType;
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

interface RouteCall<Params, Query, Body> {
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

interface RouteSpec<P, Q, B> extends RouteDescription {
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
  /** True: the answer is a stream, and may last as long as its reader reads. */
  readonly answerStream?: true;
  /** Returns the value to answer with as JSON, or undefined when it has answered through `reply`. */
  handle(call: RouteCall<P, Q, B>, needs: RouteNeeds, reply: FastifyReply): MaybePromise<unknown>;
}

/** Binds a handler to its schemas and hides their types, so that all routes fit into one table. */
export function defineRoute<P, Q, B>(spec: RouteSpec<P, Q, B>): Route {
  const register = (server: FastifyInstance, needs: RouteNeeds): void => {
    if (spec.bodyStream === true) {
      server.register((child, _options, done) => {
        registerWithStream(child, spec, needs);
        done();
      });
    } else addRoute(server, spec, (request, reply) => spec.handle(callOf(spec, request), needs, reply));
  };
  return { ...spec, register };
}

/** Registers the route in a context of its own, which parses no body and accepts every content type. */
function registerWithStream<P, Q, B>(
  server: FastifyInstance,
  spec: RouteSpec<P, Q, B>,
  needs: RouteNeeds,
): void {
  server.removeAllContentTypeParsers();
  server.addContentTypeParser('*', (_request, _payload, done) => done(null));
  server.addHook('preParsing', (request, _reply, payload, done) => {
    // Remove the content type, because Fastify would refuse a content type that is not well-formed.
    delete request.headers['content-type'];
    done(null, payload);
  });
  addRoute(server, spec, (request, reply) => {
    const stream = new BodyStream(request.raw, server.uploadLimits);
    reply.raw.once('close', () => stream.destroy());
    return spec.handle(callOf(spec, request, stream), needs, reply);
  });
}

function addRoute<P, Q, B>(
  server: FastifyInstance,
  spec: RouteSpec<P, Q, B>,
  handler: RouteHandlerMethod,
): void {
  const isTimed = [spec.isUntimed, spec.bodyStream, spec.answerStream].every((is) => is !== true);
  server.route({
    method: spec.method,
    url: spec.path,
    config: {
      scope: spec.scope,
      ...(spec.reach !== undefined && { reach: spec.reach }),
      ...(spec.bodyStream === true && { bodyStream: true }),
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
 * Checks the input of a request against the schemas of its endpoint. Throws DRV_REQUEST_INVALID, which names the field,
 * the fault and the fix.
 */
export function callOf<P, Q, B>(
  { params, query, body }: Pick<RouteSpec<P, Q, B>, 'params' | 'query' | 'body'>,
  request: FastifyRequest,
  stream: Readable = request.raw,
): RouteCall<P, Q, B> {
  return {
    params: parsed(params, request.params, 'path'),
    query: parsed(query, request.query, 'query'),
    body: parsed(body, request.body === undefined ? {} : request.body, 'body'),
    stream,
    request,
  };
}

/** The value that the schema makes of `value`; when there is no schema, `value` itself, whose type is not known. */
function parsed<T>(schema: z.ZodType<T> | undefined, value: unknown, part: 'path' | 'query' | 'body'): T {
  // When a route has no schema, T is inferred as `unknown`, so the cast is safe.
  if (schema === undefined) return value as T;
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const issues = result.error.issues.slice(0, MAX_ISSUES).map(({ path, message }) => {
    const place = path.length === 0 ? part : `${part} field ${path.map(String).join('.')}`;
    return `${place}: ${message}`;
  });
  throw new DroverError('DRV_REQUEST_INVALID', issues.join('; '));
}
