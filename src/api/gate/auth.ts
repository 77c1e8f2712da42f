/**
 * Decides who may call what, in one hook at the root of the server. It goes by the scope of the matched route, never by
 * the text of the URL. A route that declares no scope cannot be registered; a request that matches no route needs a key
 * with scope READ.
 */
import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { FastifyContextConfig, FastifyReply, FastifyRequest } from 'fastify';
import { type Access, callerText, type Refusal, strangeName } from '../../access/access.js';
import { KeyIndex } from '../../access/key-index.js';
import { LastUses } from '../../access/last-uses.js';
import { KEY_TOKEN_LENGTH, SESSION_TOKEN_LENGTH } from '../../access/tokens.js';
import { addressBlockOf } from '../../loop/address-block.js';
import type { Clock } from '../../loop/clock.js';
import { FailureLimiter } from '../../loop/failure-limiter.js';
import type { Configuration } from '../../model/configuration.js';
import { DroverError, type ErrorCode } from '../../model/errors.js';
import { secretsOf } from '../../model/fields/secret.js';
import { fieldOf } from '../../model/json-object.js';
import type { ApiDependencies } from '../dependencies.js';
import { JSON_TYPE, sendError } from '../http/json-reply.js';
import type { Reach, Scope } from '../http/route.js';
import { tokenOf } from './credentials.js';
import { hiddenBy } from './hidden.js';
import { SlidingWindow } from './rate-limit.js';
import { RefusalTrail } from './refusal-trail.js';

/** The caller of a request: a key or one of its sessions, or an instance with its own token. */
export type Actor = Access | { readonly kind: 'instance'; readonly instanceId: string };

declare module 'fastify' {
  interface FastifyContextConfig {
    scope?: Scope;
    reach?: Reach;
    /** True on routes that each of several masters answers itself. */
    isOwn?: true;
    /** True on WebSocket endpoints, where a subprotocol may carry the key. */
    socket?: true;
  }
  interface FastifyRequest {
    /** Null on requests that the gate has refused, and on open routes when no valid key was sent. */
    actor: Actor | null;
  }
}

const RETRY_WHEN_READY_S = '1';
const CHALLENGE = 'Bearer';
const UNAUTHORIZED = encodeError('DRV_KEY_REFUSED', 'Unauthorized');
const NOT_READY = encodeError(
  'DRV_NOT_READY',
  'the master is still loading its state: try again in a moment',
);

/**
 * Lets a request in or answers it: 401 without a key, 503 before the state is loaded, 403 without the right, 429 over a
 * limit of the key. A PUBLIC key gets 401 where another key gets 403.
 *
 * However many refusals an address has had, the next answer is the same one: a token has 178 random bits, so guessing
 * needs no limit. A refusal costs as little as an open route. Only its lines in the log and the audit trail are limited.
 */
export class Gate {
  readonly #dependencies: ApiDependencies;
  readonly #clock: Clock;
  readonly #keys: KeyIndex;
  readonly #uses: LastUses;
  /** Limits the log lines about refusals of an address. */
  readonly #failures = new FailureLimiter();
  readonly #publicCalls = new SlidingWindow(100, 60_000);
  /** The limit for the reports that an instance sends with its own token, by instance. */
  readonly #reports = new SlidingWindow(10, 1000);
  readonly #refusals: RefusalTrail;
  /** Callers of requests that this process sends itself, each by its Authorization header. */
  readonly #passes = new Map<string, Access>();

  constructor(dependencies: ApiDependencies) {
    const { keys, sessions, keyWrites, sessionWrites, logger, clock } = dependencies;
    this.#dependencies = dependencies;
    this.#clock = clock;
    this.#refusals = new RefusalTrail(dependencies.audit);
    this.#uses = new LastUses({
      write: ({ label, keyHash, session, endedAt }, use) => {
        if (session === null)
          return endedAt === undefined
            ? keyWrites.noteUse(label, keyHash, use)
            : keyWrites.noteEnd(label, keyHash, endedAt);
        return endedAt === undefined
          ? sessionWrites.noteUse(session, use)
          : sessionWrites.noteEnd(session, endedAt);
      },
      clock,
      logger,
    });
    this.#keys = new KeyIndex({
      keys,
      sessions,
      clock,
      onUse: (access) => this.#uses.note(access),
      onOver: (access) => this.#uses.noteEnd(access),
      onKeyGone: (label) => this.#publicCalls.forget(label),
    });
  }

  /**
   * Returns true when the request may go on, false when it has been answered. `config`: the config of the matched
   * route. A request that matches no route has no scope: a key that may read gets a 404.
   */
  admit(request: FastifyRequest, reply: FastifyReply, config: FastifyContextConfig): boolean {
    const { scope = 'READ', reach } = config;
    const sender = this.#passes.get(request.headers.authorization ?? '');
    if (sender !== undefined) {
      request.actor = sender;
      request.isOwn = true;
      return true;
    }
    if (scope === 'open') return this.#admitOpen(request, reply);
    const token = tokenOf(request.raw, config.socket === true);
    if (token === undefined) return this.#refuse(request, reply, null);
    // A master that follows is not ready for questions about the cluster, but it has the keys.
    const needsState = config.scope !== undefined && config.isOwn !== true;
    if (needsState ? !this.#dependencies.isReady() : !this.#dependencies.hasKeys()) {
      reply.code(503).header('retry-after', RETRY_WHEN_READY_S).type(JSON_TYPE).send(NOT_READY);
      return false;
    }
    const isRouted = config.scope !== undefined;
    return token.length === KEY_TOKEN_LENGTH || token.length === SESSION_TOKEN_LENGTH
      ? this.#admitKey(request, reply, { token, scope, reach: isRouted ? reach : 'filtered' })
      : this.#admitInstance(request, reply, { token, scope });
  }

  /**
   * Lets one request of this process in, with the rights of its caller. `send` gets the Authorization header for the
   * request; the header is good until `send` resolves. No scope is checked, because a caller who may run commands may
   * do everything.
   */
  async pass<T>(caller: Access, send: (authorization: string) => Promise<T>): Promise<T> {
    const authorization = `Own ${randomBytes(32).toString('base64url')}`;
    this.#passes.set(authorization, caller);
    try {
      return await send(authorization);
    } finally {
      this.#passes.delete(authorization);
    }
  }

  /**
   * The caller of a request that another master will judge, as far as this master knows it. Null: no token that is good
   * at this moment and for this address. It counts nothing, and refuses nothing.
   */
  callerOf(request: IncomingMessage, isSocket: boolean): Actor | null {
    const token = tokenOf(request, isSocket);
    if (token === undefined) return null;
    const access = this.#keys.find(token);
    if (access !== undefined)
      return !access.isOver(this.#clock.now()) && access.isFrom(request.socket.remoteAddress ?? '')
        ? access
        : null;
    const instanceId = this.#dependencies.verifyInstanceToken(token);
    return instanceId === undefined ? null : { kind: 'instance', instanceId };
  }

  /** Notes an invalid sign-in code in the log and the audit trail, like a wrong key. */
  noteWrongCode(request: FastifyRequest): void {
    this.#noteRefusal(request, null, { status: 401, why: 'wrong sign-in code' });
  }

  /** Stops following keys and sessions. Resolves when their last uses are written. Idempotent. */
  async close(): Promise<void> {
    this.#keys.close();
    await this.#uses.stop();
  }

  #admitKey(
    request: FastifyRequest,
    reply: FastifyReply,
    { token, scope, reach }: { token: string; scope: Exclude<Scope, 'open'>; reach: Reach | undefined },
  ): boolean {
    const access = this.#keys.find(token);
    if (access === undefined) return this.#refuse(request, reply, null);
    if (access.scope === 'PUBLIC' && !this.#take(this.#publicCalls, access.label, reply)) return false;
    const now = this.#clock.now();
    const address = request.ip;
    const least = scope === 'instance-or-OPERATE' ? 'OPERATE' : scope;
    const refusal = access.refusal({ least, isBroad: reach === undefined, now, address });
    if (refusal !== undefined) return this.#refuse(request, reply, access, refusal);
    access.use(now, address);
    request.actor = access;
    if (access.configurations === null || reach === undefined || reach === 'filtered') return true;
    const { instances } = this.#dependencies;
    const hidden = hiddenBy(access, reach, request, (id) => instances.get(id)?.value.configurationName);
    if (hidden === undefined) return true;
    sendError(reply, hidden.code, hidden.message);
    return false;
  }

  #admitInstance(
    request: FastifyRequest,
    reply: FastifyReply,
    { token, scope }: { token: string; scope: Scope },
  ): boolean {
    const instanceId = this.#dependencies.verifyInstanceToken(token);
    if (instanceId === undefined) return this.#refuse(request, reply, null);
    const actor: Actor = { kind: 'instance', instanceId };
    if (scope !== 'instance-or-OPERATE' || fieldOf(request.params, 'id') !== instanceId)
      return this.#refuse(request, reply, actor);
    if (!this.#take(this.#reports, instanceId, reply)) return false;
    request.actor = actor;
    return true;
  }

  #admitOpen(request: FastifyRequest, reply: FastifyReply): boolean {
    const token = tokenOf(request.raw, false);
    if (token === undefined) return true;
    const access = this.#keys.find(token);
    if (access === undefined) {
      const instanceId = this.#dependencies.verifyInstanceToken(token);
      if (instanceId !== undefined) request.actor = { kind: 'instance', instanceId };
      return true;
    }
    if (access.scope === 'PUBLIC' && !this.#take(this.#publicCalls, access.label, reply)) return false;
    const now = this.#clock.now();
    if (access.isOver(now) || !access.isFrom(request.ip)) return true;
    access.use(now, request.ip);
    request.actor = access;
    return true;
  }

  #take(limit: SlidingWindow, caller: string, reply: FastifyReply): boolean {
    const retryAfterMs = limit.take(caller, this.#clock.monotonic());
    if (retryAfterMs > 0) sendTooMany(reply, retryAfterMs);
    return retryAfterMs === 0;
  }

  #refuse(
    request: FastifyRequest,
    reply: FastifyReply,
    actor: Actor | null,
    { forbidden, hint }: Refusal = {},
  ): false {
    const status = forbidden === undefined ? 401 : 403;
    this.#noteRefusal(request, actor, { status, why: forbidden ?? hint });
    if (forbidden !== undefined) sendError(reply, 'DRV_KEY_LIMITED', forbidden);
    else {
      const challenge =
        hint === undefined ? CHALLENGE : `${CHALLENGE} error="invalid_token", error_description="${hint}"`;
      reply.code(status).header('www-authenticate', challenge).type(JSON_TYPE).send(UNAUTHORIZED);
    }
    return false;
  }

  /** Notes a refusal in the log and the audit trail, unless the address had too many of them lately. */
  #noteRefusal(
    request: FastifyRequest,
    actor: Actor | null,
    { status, why }: { status: number; why: string | undefined },
  ): void {
    const { method, ip: address } = request;
    const at = this.#clock.monotonic();
    const { retryAfterMs, isFirst } = this.#failures.fail(addressBlockOf(address), at);
    if (retryAfterMs > 0 && !isFirst) return;
    const route = request.routeOptions.url ?? null;
    const key = actor === null ? null : actorLabel(actor);
    this.#refusals.record(request, { key, status, at });
    const more = isFirst ? '; further ones are not logged until they pause' : '';
    this.#dependencies.logger.warn(
      { key, method, route, address, status },
      `refused authentication: ${method} ${route ?? 'of no endpoint'} from ${address}, ${whoIs(actor)}${why === undefined ? '' : ` (${why})`}: ${status}${more}`,
    );
  }
}

/** The caller in a line of the log. */
function whoIs(actor: Actor | null): string {
  if (actor === null) return 'no valid key';
  return actor.kind === 'key' ? callerText(actor) : `key ${actorLabel(actor)}`;
}

/** Checks each route at its registration. Throws for a route that does not say who may call it. */
export function requireScope(route: { readonly url: string; readonly config?: { scope?: Scope } }): void {
  if (route.config?.scope === undefined) throw new Error(`route ${route.url} declares no scope`);
}

/** The caller's name in the audit trail. */
export function actorLabel(actor: Actor): string {
  return actor.kind === 'key' ? actor.name : `instance ${actor.instanceId}`;
}

/** The caller's name in the audit trail, for the changes that the request makes. For a route that needs a key. */
export function callerOf({ actor }: Pick<FastifyRequest, 'actor'>): string {
  return actor === null ? 'nobody' : actorLabel(actor);
}

/** The caller's access; undefined: the caller is an instance, or showed no key. */
export function accessOf({ actor }: Pick<FastifyRequest, 'actor'>): Access | undefined {
  return actor?.kind === 'key' ? actor : undefined;
}

/** False when the caller is a key that is restricted to other configurations. */
export function seesConfiguration(request: Pick<FastifyRequest, 'actor'>, name: string): boolean {
  return accessOf(request)?.sees(name) ?? true;
}

/** Throws DRV_CONFIGURATION_REFUSED when the caller is a key that is restricted to other configurations. */
export function requireSight(request: Pick<FastifyRequest, 'actor'>, name: string): void {
  const access = accessOf(request);
  if (access?.sees(name) === false)
    throw new DroverError('DRV_CONFIGURATION_REFUSED', strangeName(access, name));
}

/**
 * Throws DRV_CONFIGURATION_REFUSED when `next` refers to a secret that `before` does not, and the caller is a key that
 * is restricted to configurations and lacks the scope SECRETS. Such a key could have a program show it any secret.
 */
export function requireSecrets(
  request: Pick<FastifyRequest, 'actor'>,
  before: Configuration | undefined,
  next: () => { readonly configuration: Configuration },
): void {
  const access = accessOf(request);
  if (access === undefined || access.configurations === null || access.may('SECRETS')) return;
  const had = before === undefined ? undefined : secretsOf(before);
  const added = [...secretsOf(next().configuration)].filter((name) => had?.has(name) !== true);
  const text = `${callerText(access)} may not add a reference to the secret ${added[0]} without the scope SECRETS`;
  if (added.length > 0) throw new DroverError('DRV_CONFIGURATION_REFUSED', text);
}

function sendTooMany(reply: FastifyReply, retryAfterMs: number): void {
  reply
    .code(429)
    .header('retry-after', Math.ceil(retryAfterMs / 1000))
    .send({
      error: `Rate limit exceeded. Retry after ${retryAfterMs}ms.`,
      code: 'DRV_RATE_LIMITED',
      retryAfterMs,
    });
}

function encodeError(code: ErrorCode, error: string): Buffer {
  return Buffer.from(JSON.stringify({ error, code }));
}
