/**
 * A route as data: who may call it, what it takes and answers as zod schemas, and what it does. The schemas check
 * requests here and describe the API elsewhere (OpenAPI); responses are not run through them, so that prebuilt
 * bytes go out as they are.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { MaybePromise } from '../loop/maybe-promise.js';
import type { Scope } from './auth.js';
import { parseRequest } from './request-validation.js';

/** Longest time that a handler may take. */
const HANDLER_TIMEOUT_MS = 60_000;

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
  readonly params: z.ZodType;
  readonly query: z.ZodType;
  readonly body: z.ZodType;
  /** What the body must be, where that is checked further down and `body` only lets it pass. */
  readonly documentedBody?: z.ZodType;
}

export interface Route extends RouteDescription {
  register(server: FastifyInstance): void;
}

export interface RouteCall<Params, Query, Body> {
  readonly params: Params;
  readonly query: Query;
  readonly body: Body;
  readonly request: FastifyRequest;
}

export interface RouteSpec<P, Q, B> extends RouteDescription {
  readonly params: z.ZodType<P>;
  readonly query: z.ZodType<Q>;
  readonly body: z.ZodType<B>;
  /** True: never waits for anything, so that no timer guards it. */
  readonly isImmediate?: boolean;
  /** Answers with the returned value as JSON, or by `reply` and returns undefined. */
  handle(call: RouteCall<P, Q, B>, reply: FastifyReply): MaybePromise<unknown>;
}

/** Binds a handler to its schemas and forgets their types, so that routes of all kinds make one table. */
export function defineRoute<P, Q, B>(spec: RouteSpec<P, Q, B>): Route {
  const { params, query, body } = spec;
  const register = (server: FastifyInstance): void => {
    server.route({
      method: spec.method,
      url: spec.path,
      config: { scope: spec.scope },
      ...(spec.isImmediate !== true && { handlerTimeout: HANDLER_TIMEOUT_MS }),
      handler: (request, reply) =>
        spec.handle(
          {
            params: parseRequest(params, request.params, 'path'),
            query: parseRequest(query, request.query, 'query'),
            body: parseRequest(body, request.body === undefined ? {} : request.body, 'body'),
            request,
          },
          reply,
        ),
    });
  };
  return { ...spec, register };
}
