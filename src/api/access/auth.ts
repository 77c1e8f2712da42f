/**
 * Decides who may call what, in one hook at the root of the server. It goes by the scope of the matched route,
 * never by the text of the URL. A route without a scope cannot be registered; a request without a route needs an
 * ALL key.
 */
import type { FastifyContextConfig, FastifyReply, FastifyRequest } from 'fastify';
import { addressBlockOf } from '../../loop/address-block.js';
import type { Clock } from '../../loop/clock.js';
import { FailureLimiter, type FailureVerdict } from '../../loop/failure-limiter.js';
import type { ApiKeyRecord } from '../../model/api-key.js';
import type { AuditTrail } from '../../model/audit.js';
import type { MirrorReader } from '../../store/mirror.js';
import type { Logger } from '../../telemetry/logger.js';
import { JSON_TYPE } from '../http/json-reply.js';
import type { Scope } from '../http/route.js';
import { tokenOf } from './credentials.js';
import { type KeyActor, KeyIndex } from './key-index.js';
import { SlidingWindow } from './rate-limit.js';
import { RefusalTrail } from './refusal-trail.js';
import { KEY_TOKEN_LENGTH } from './tokens.js';

/** The caller of a request: a key, or an instance with its own token. */
export type Actor = KeyActor | { readonly kind: 'instance'; readonly instanceId: string };

declare module 'fastify' {
  interface FastifyContextConfig {
    scope?: Scope;
  }
  interface FastifyRequest {
    /** Null on requests that the gate has refused, and on those to open routes without a valid key. */
    actor: Actor | null;
  }
}

const RETRY_WHEN_READY_S = '1';
const UNAUTHORIZED = Buffer.from('{"error":"Unauthorized"}');
const NOT_READY = Buffer.from('{"error":"the master is still loading its state: try again in a moment"}');

export interface GateNeeds {
  readonly keys: MirrorReader<ApiKeyRecord>;
  /** True once every mirror is loaded and the configuration files are read. Until then the answer is 503. */
  isReady(): boolean;
  /** Returns the id of the instance that the token belongs to, or undefined. */
  verifyInstanceToken(token: string): string | undefined;
  readonly audit: Pick<AuditTrail, 'record'>;
  readonly logger: Logger;
}

/** Lets a request in or answers it: 503 before the state is loaded, 401 without a sufficient key, 429 over a limit. */
export class Gate {
  readonly #dependencies: GateNeeds;
  readonly #clock: Clock;
  readonly #keys: KeyIndex;
  readonly #failures = new FailureLimiter();
  readonly #publicCalls = new SlidingWindow(100, 60_000);
  /** By instance: what instances send with their own keys. */
  readonly #reports = new SlidingWindow(10, 1000);
  readonly #refusals: RefusalTrail;

  /** Calls `onKeyGone` at once with the label of each key that was deleted or replaced. */
  constructor(dependencies: GateNeeds, clock: Clock, onKeyGone: (label: string) => void = () => {}) {
    this.#dependencies = dependencies;
    this.#clock = clock;
    this.#refusals = new RefusalTrail(dependencies.audit);
    this.#keys = new KeyIndex(dependencies.keys, (label) => {
      this.#publicCalls.forget(label);
      onKeyGone(label);
    });
  }

  /**
   * Returns true when the request may go on, false when it has been answered. `config` is that of the matched route. A
   * request without a route has no scope, and only ALL keys get past that (to a 404).
   */
  admit(request: FastifyRequest, reply: FastifyReply, config: FastifyContextConfig): boolean {
    const { scope } = config;
    if (scope === 'open') return this.#admitOpen(request, reply);
    if (!this.#dependencies.isReady()) {
      reply.code(503).header('retry-after', RETRY_WHEN_READY_S).type(JSON_TYPE).send(NOT_READY);
      return false;
    }
    const actor = this.#authenticate(request, config.socket === true);
    if (actor === undefined) return this.#refuse(request, reply, null);
    if (isPublicKey(actor) && !this.#take(this.#publicCalls, actor.label, reply)) return false;
    if (!isAllowed(actor, scope, request)) return this.#refuse(request, reply, actor);
    if (actor.kind === 'instance' && !this.#take(this.#reports, actor.instanceId, reply)) return false;
    request.actor = actor;
    return true;
  }

  /** Stops following the keys. Idempotent. */
  close(): void {
    this.#keys.close();
  }

  #admitOpen(request: FastifyRequest, reply: FastifyReply): boolean {
    if (request.headers.authorization === undefined) return true;
    const actor = this.#authenticate(request, false);
    if (actor === undefined) return true;
    if (isPublicKey(actor) && !this.#take(this.#publicCalls, actor.label, reply)) return false;
    request.actor = actor;
    return true;
  }

  #authenticate(request: FastifyRequest, isSocket: boolean): Actor | undefined {
    const token = tokenOf(request.raw, isSocket);
    if (token === undefined) return undefined;
    if (token.length === KEY_TOKEN_LENGTH) return this.#keys.find(token);
    const instanceId = this.#dependencies.verifyInstanceToken(token);
    return instanceId === undefined ? undefined : { kind: 'instance', instanceId };
  }

  #take(limit: SlidingWindow, caller: string, reply: FastifyReply): boolean {
    const retryAfterMs = limit.take(caller, this.#clock.monotonic());
    if (retryAfterMs > 0) sendTooMany(reply, retryAfterMs);
    return retryAfterMs === 0;
  }

  #refuse(request: FastifyRequest, reply: FastifyReply, actor: Actor | null): false {
    // The call of a PUBLIC key was counted already, against the limit of its own.
    const verdict: FailureVerdict =
      actor !== null && isPublicKey(actor)
        ? { retryAfterMs: 0, isFirst: false }
        : this.#failures.fail(addressBlockOf(request.ip), this.#clock.monotonic());
    if (verdict.retryAfterMs === 0 || verdict.isFirst) this.#logRefusal(request, actor, verdict);
    if (verdict.retryAfterMs > 0) sendTooMany(reply, verdict.retryAfterMs);
    else reply.code(401).header('www-authenticate', 'Bearer').type(JSON_TYPE).send(UNAUTHORIZED);
    return false;
  }

  #logRefusal(request: FastifyRequest, actor: Actor | null, { retryAfterMs }: FailureVerdict): void {
    const { method, ip: address } = request;
    const route = request.routeOptions.url ?? null;
    const status = retryAfterMs === 0 ? 401 : 429;
    const key = actor === null ? null : actorLabel(actor);
    this.#refusals.record(request, { key, status, at: this.#clock.monotonic() });
    const more = retryAfterMs === 0 ? '' : '; further ones are not logged until it pauses';
    this.#dependencies.logger.warn(
      { key, method, route, address, status },
      `refused authentication: ${method} ${route ?? 'of no endpoint'} from ${address}, ${describeKey(key)}: ${status}${more}`,
    );
  }
}

function describeKey(label: string | null): string {
  return label === null ? 'no valid key' : `key ${label}`;
}

/** Registration hook. Throws for a route that does not say who may call it. */
export function requireScope(route: { readonly url: string; readonly config?: { scope?: Scope } }): void {
  if (route.config?.scope === undefined) throw new Error(`route ${route.url} declares no scope`);
}

/** The caller's name in the audit trail. */
export function actorLabel(actor: Actor): string {
  return actor.kind === 'key' ? actor.label : `instance ${actor.instanceId}`;
}

function isAllowed(actor: Actor, scope: Scope | undefined, { params }: FastifyRequest): boolean {
  if (actor.kind === 'instance') return scope === 'instance-or-ALL' && idOf(params) === actor.instanceId;
  return actor.scope === 'ALL' || scope === 'PUBLIC';
}

function isPublicKey(actor: Actor): actor is KeyActor {
  return actor.kind === 'key' && actor.scope === 'PUBLIC';
}

function idOf(params: unknown): unknown {
  return params !== null && typeof params === 'object' && 'id' in params ? params.id : undefined;
}

function sendTooMany(reply: FastifyReply, retryAfterMs: number): void {
  reply
    .code(429)
    .header('retry-after', Math.ceil(retryAfterMs / 1000))
    .send({ error: `Rate limit exceeded. Retry after ${retryAfterMs}ms.`, retryAfterMs });
}
