/**
 * A route as data: who may call it, what it takes and answers as zod schemas, and what it does. The schemas check
 * requests here and describe the API elsewhere (OpenAPI); responses are not run through them, so that prebuilt
 * bytes go out as they are.
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
import type { ErrorCode } from '../../model/errors.js';
import { BodyStream } from './body-stream.js';
import { parseRequest } from './request-validation.js';

/** Longest time that a handler may take. */
const HANDLER_TIMEOUT_MS = 60_000;

/** `open`: no key. `instance-or-ALL`: an ALL key, or the token of the instance that the path's `id` names. */
export type Scope = 'open' | 'ALL' | 'PUBLIC' | 'instance-or-ALL';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** For a route that takes no parameters, query or body: whatever came is left alone. */
export const nothing = z.unknown();

export interface Answer {
  readonly description: string;
  /** Absent: no JSON body. */
  readonly schema?: z.ZodType;
  /** Default: application/json. */
  readonly contentType?: string;
}

/** What is known of a route without calling it. */
export interface RouteDescription {
  readonly method: Method;
  /** Under `/api`, parameters as `:id`. */
  readonly path: string;
  readonly scope: Scope;
  readonly summary: string;
  /** Success only; error answers are `{error}` everywhere. */
  readonly answers: Readonly<Record<number, Answer>>;
  /** What it may refuse with, beside what every route may (a bad request, no key, too many, not ready). */
  readonly errors?: readonly ErrorCode[];
  readonly params: z.ZodType;
  readonly query: z.ZodType;
  readonly body: z.ZodType;
  /** What the body must be, where that is checked further down and `body` only lets it pass. */
  readonly documentedBody?: z.ZodType;
  /** Content types of a body that is taken as bytes, for the description. */
  readonly bodyTypes?: readonly string[];
}

export interface Route extends RouteDescription {
  register(server: FastifyInstance): void;
}

export interface RouteCall<Params, Query, Body> {
  readonly params: Params;
  readonly query: Query;
  readonly body: Body;
  /** With `bodyStream` the body as it comes, bounded in size and idle time; without, it has been read into `body`. */
  readonly stream: Readable;
  readonly request: FastifyRequest;
}

export interface RouteSpec<P, Q, B> extends RouteDescription {
  readonly params: z.ZodType<P>;
  readonly query: z.ZodType<Q>;
  readonly body: z.ZodType<B>;
  /** True: never waits for anything, so that no timer guards it. */
  readonly isImmediate?: boolean;
  /**
   * The body is not read before `handle` is called, which gets it as `call.stream`: of any content type, up to
   * maxUploadMB (else DRV_REQUEST_TOO_LARGE, before anything is read where Content-Length tells). `body` is `nothing`.
   * Takes as long as bytes come. What is left unread when the answer is out is thrown away.
   */
  readonly bodyStream?: true;
  /** The work bounds its own time, such as a download: no timer guards it, and nothing is sent meanwhile. */
  readonly isUntimed?: true;
  /** The answer is a stream: it may take as long as its reader reads on. */
  readonly answerStream?: true;
  /** Answers with the returned value as JSON, or by `reply` and returns undefined. */
  handle(call: RouteCall<P, Q, B>, reply: FastifyReply): MaybePromise<unknown>;
}

/** Binds a handler to its schemas and forgets their types, so that routes of all kinds make one table. */
export function defineRoute<P, Q, B>(spec: RouteSpec<P, Q, B>): Route {
  const register = (server: FastifyInstance): void => {
    if (spec.bodyStream === true) {
      server.register((child, _options, done) => {
        registerWithStream(child, spec);
        done();
      });
    } else addRoute(server, spec, (request, reply) => spec.handle(callOf(spec, request, request.raw), reply));
  };
  return { ...spec, register };
}

/** In a context of its own, where no body is parsed and every content type will do. */
function registerWithStream<P, Q, B>(server: FastifyInstance, spec: RouteSpec<P, Q, B>): void {
  server.removeAllContentTypeParsers();
  server.addContentTypeParser('*', (_request, _payload, done) => done(null));
  server.addHook('preParsing', (request, _reply, payload, done) => {
    // Else a type that is not well-formed would be refused.
    delete request.headers['content-type'];
    done(null, payload);
  });
  addRoute(server, spec, (request, reply) => {
    BodyStream.checkLength(request.raw, server.uploadLimits);
    const stream = new BodyStream(request.raw, server.uploadLimits);
    reply.raw.once('close', () => stream.destroy());
    return spec.handle(callOf(spec, request, stream), reply);
  });
}

function addRoute<P, Q, B>(
  server: FastifyInstance,
  spec: RouteSpec<P, Q, B>,
  handler: RouteHandlerMethod,
): void {
  const isTimed = [spec.isImmediate, spec.isUntimed, spec.bodyStream, spec.answerStream].every(
    (is) => is !== true,
  );
  server.route({
    method: spec.method,
    url: spec.path,
    config: { scope: spec.scope, ...(spec.bodyStream === true && { bodyStream: true }) },
    ...(isTimed && { handlerTimeout: HANDLER_TIMEOUT_MS }),
    ...(spec.isUntimed === true && { preHandler: allowSilence }),
    handler,
  });
}

/** Until the answer is out: then the server's own limits hold again. */
const allowSilence: preHandlerHookHandler = (_request, reply, done) => {
  reply.raw.setTimeout(0);
  done();
};

function callOf<P, Q, B>(
  { params, query, body }: RouteSpec<P, Q, B>,
  request: FastifyRequest,
  stream: Readable,
): RouteCall<P, Q, B> {
  return {
    params: parseRequest(params, request.params, 'path'),
    query: parseRequest(query, request.query, 'query'),
    body: parseRequest(body, request.body === undefined ? {} : request.body, 'body'),
    stream,
    request,
  };
}
