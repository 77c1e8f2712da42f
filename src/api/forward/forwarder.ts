/**
 * Lets a client ask any of several masters. A master that does not lead forwards a request to the leader, before any
 * handler sees it. Each master answers itself where the answer is about this master, and serves the files of the
 * dashboard. Clients are never redirected, because they drop their key then.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Leader, Leadership } from '../../leadership/leadership.js';
import { statusOfCode } from '../../model/errors.js';
import { NOT_TAKEN } from '../../model/plain/not-taken.js';
import type { Actor } from '../gate/auth.js';
import { hasNoToken } from '../gate/credentials.js';
import { answerTimeout, endWith } from '../http/error-reply.js';
import { hasBody } from '../http/time-limits.js';
import type { Tunnels } from './client-address.js';
import { type Hold, Holds, type HoldsOptions, isSame } from './holds.js';
import { OpenCount } from './open-count.js';
import type { OwnRoutes } from './own-routes.js';
import { type Place, Places } from './places.js';
import { dropRest, type Exchange, type Outcome, relay } from './relay.js';
import { type Handshake, relaySocket } from './socket-relay.js';
import { type TunnelDial, TunnelPool } from './tunnel-pool.js';
import { untilWhole } from './whole-body.js';

const RETRY_AFTER_S = '1';
const NOBODY = 'no master leads at this moment: try again';
const TOO_MANY_WAIT = 'too many requests wait for the leader: try again';
const TOO_LARGE = 'the body is larger than this route takes (16 KiB)';

/**
 * How many leaders one request may lose before they answer; then it is refused. The limit is low, because the request
 * itself may be what ends them.
 */
const MOST_LOST = 2;

/**
 * How long a leader that hands over waits for begun writes. Most take a few milliseconds. An upload takes longer, and
 * its next write is refused.
 */
const ANSWER_MS = 250;
/**
 * How long a former leader still answers the requests of other masters with "not taken". If it closed the connections
 * instead, those masters would not know whether a request was taken.
 */
const LEFT_MS = 1000;

export interface ForwarderNeeds {
  readonly leadership: Pick<Leadership, 'leader' | 'isLeader' | 'onChange'>;
  readonly dial: TunnelDial;
}

interface ForwarderOptions extends ForwarderNeeds, HoldsOptions {
  readonly routes: OwnRoutes;
  /** Called for each request for another master. Returns the caller as far as this master knows it. */
  readonly identify: (request: IncomingMessage, isSocket: boolean) => Actor | null;
  readonly tunnels: Tunnels;
  /** Called when this master stops leading: clients that follow something here must go on at the new leader. */
  readonly onLeft: () => void;
}

/** The differences between forwarding a request and forwarding a handshake. */
interface Ways {
  readonly request: IncomingMessage;
  /** True when the request may be sent twice without harm. */
  readonly isSafe: boolean;
  readonly isGone: () => boolean;
  readonly here: () => void;
  readonly refuse: (code: Refusal, text: string) => void;
  readonly attempt: (pool: TunnelPool, hold: Hold) => Promise<Outcome>;
}

const REFUSALS = {
  DRV_LEADER_LOST: '502 Bad Gateway',
  DRV_NOT_LEADER: '503 Service Unavailable',
  DRV_OVERLOADED: '503 Service Unavailable',
  DRV_REQUEST_TOO_LARGE: '413 Content Too Large',
} as const;
type Refusal = keyof typeof REFUSALS;

export class Forwarder {
  readonly #options: ForwarderOptions;
  readonly #holds: Holds;
  readonly #places = new Places();
  /** The writes of clients that are under way here. */
  readonly #begun = new OpenCount();
  readonly #unsubscribe: () => void;
  readonly #retired = new Set<TunnelPool>();
  #hasLed: boolean;
  #present: TunnelPool | undefined;

  constructor(options: ForwarderOptions) {
    this.#options = options;
    this.#holds = new Holds(options);
    this.#hasLed = options.leadership.isLeader();
    this.#unsubscribe = options.leadership.onChange(() => {
      this.#retireFormer();
      this.#noteOwn();
    });
  }

  /** Makes `server` answer only the requests that are to be answered here, and forward all others. */
  standBefore(server: Server): void {
    const listeners = server.listeners('request');
    server.removeAllListeners('request');
    const take = (request: IncomingMessage, response: ServerResponse, allow?: () => void): void => {
      let isAllowed = false;
      const proceed = (): void => {
        if (!isAllowed) allow?.();
        isAllowed = true;
      };
      const here = (): void => {
        proceed();
        if (!isQuestion(request)) this.#begun.add(response);
        for (const listener of listeners) Reflect.apply(listener, server, [request, response]);
      };
      if (this.#isOwn(request)) here();
      else void this.#forward({ request, response, proceed }, here);
    };
    server.on('request', (request, response) => take(request, response));
    server.on('checkContinue', (request, response) =>
      take(request, response, () => response.writeContinue()),
    );
  }

  /** Takes over the handshake of a WebSocket, and calls `here` when this process is to answer it. */
  readonly upgrade = (request: IncomingMessage, client: Duplex, rest: Buffer, here: () => void): void => {
    if (this.#isOwn(request)) here();
    else void this.#forwardSocket({ request, client, rest }, here);
  };

  /**
   * Called when this master takes no new writes. Resolves when the begun writes are answered, or after a short limit.
   */
  untilAnswered(): Promise<void> {
    return this.#begun.untilNone(this.#options.clock, ANSWER_MS);
  }

  /**
   * Resolves when the other masters have closed their tunnels, or after a short limit. They close them when they know
   * the next leader.
   */
  untilLeft(): Promise<void> {
    return this.#options.tunnels.open.untilNone(this.#options.clock, LEFT_MS);
  }

  /** Ends all tunnels. Idempotent. */
  stop(): void {
    this.#unsubscribe();
    for (const pool of [...this.#retired, this.#present]) pool?.close();
    this.#retired.clear();
  }

  #isOwn(request: IncomingMessage): boolean {
    const { routes } = this.#options;
    const { url = '' } = request;
    if (this.#holds.target() === 'here' || routes.isOwn(url)) return true;
    // Any master can refuse a request without a token. So these need no leader, and take no place on the way to it.
    return hasNoToken(request) && !routes.isOpen(url);
  }

  async #forward(exchange: Exchange, here: () => void): Promise<void> {
    const { request, response } = exchange;
    if (!(await this.#hasBody(exchange)) || response.destroyed) return;
    const place = this.#enter(request, false);
    if (typeof place === 'string') {
      refuse(exchange, 'DRV_OVERLOADED', place);
      return;
    }
    response.once('close', () => place.leave());
    await this.#deliver({
      request,
      isSafe: isQuestion(request) && !hasBody(request),
      isGone: () => response.destroyed,
      here: () => {
        place.leave();
        here();
      },
      refuse: (code, text) => refuse(exchange, code, text),
      attempt: (pool, hold) => this.#relay(pool, exchange, hold),
    });
  }

  /** Takes a place on the way to the leader, or returns why there is none. */
  #enter(request: IncomingMessage, isSocket: boolean): Place | string {
    if (this.#options.tunnels.has(request)) return this.#places.takeAny();
    const caller = this.#options.identify(request, isSocket);
    return this.#places.take(caller, request.socket.remoteAddress ?? '');
  }

  /** Waits for the body where the leader would wait for it. False: the request was answered, or the client has gone. */
  async #hasBody(exchange: Exchange): Promise<boolean> {
    const { request, proceed } = exchange;
    if (!hasBody(request) || !this.#options.routes.isOpen(request.url ?? '')) return true;
    proceed();
    const arrival = await untilWhole(request, this.#options.clock);
    if (arrival === 'too-large') refuse(exchange, 'DRV_REQUEST_TOO_LARGE', TOO_LARGE);
    if (arrival === 'late') answerTimeout(request.socket);
    return arrival === 'here';
  }

  async #relay(pool: TunnelPool, exchange: Exchange, hold: Hold): Promise<Outcome> {
    const late = new AbortController();
    const timer = this.#options.clock.setTimer(hold.leftMs, () => late.abort());
    const sent = (): void => {
      timer.cancel();
      hold.leave();
    };
    const outcome = await relay(pool, exchange, { sent, signal: late.signal });
    timer.cancel();
    return outcome;
  }

  async #forwardSocket(handshake: Handshake, here: () => void): Promise<void> {
    const { request, client } = handshake;
    const refuseSocket = (code: Refusal, text: string): void =>
      endWith(client, {
        status: REFUSALS[code],
        code,
        text,
        headers: code === 'DRV_NOT_LEADER' ? [`${NOT_TAKEN}: 1`] : [],
      });
    const place = this.#enter(request, true);
    if (typeof place === 'string') {
      refuseSocket('DRV_OVERLOADED', place);
      return;
    }
    client.once('close', () => place.leave());
    await this.#deliver({
      request,
      isSafe: true,
      isGone: () => client.destroyed,
      here: () => {
        place.leave();
        here();
      },
      refuse: refuseSocket,
      attempt: async (pool, hold) => {
        const tunnel = await pool.open().catch(() => undefined);
        if (tunnel === undefined) return 'not-sent';
        hold.leave();
        return relaySocket(tunnel, handshake);
      },
    });
  }

  /** Tries until a master has answered, the client has gone, or the time is over. */
  async #deliver(ways: Ways): Promise<void> {
    const { request, isSafe, isGone, here, refuse, attempt } = ways;
    let lost = 0;
    const isForwarded = this.#options.tunnels.has(request);
    let hold = this.#holds.enter();
    if (hold === undefined) {
      refuse('DRV_OVERLOADED', TOO_MANY_WAIT);
      return;
    }
    while (hold !== undefined && !isGone()) {
      // A request that another master forwarded is not forwarded again, because it could go in circles. It waits only
      // if this master is about to lead.
      if (isForwarded && !this.#holds.isNext) {
        hold.leave();
        hold = undefined;
        break;
      }
      const target = this.#holds.target();
      if (target === 'here') {
        hold.leave();
        here();
        return;
      }
      const outcome = target && (await attempt(this.#poolTo(target), hold));
      if (outcome === 'answered') break;
      if (target !== undefined && outcome === 'lost') {
        if (!isSafe || ++lost === MOST_LOST) {
          refuse('DRV_LEADER_LOST', lostText(target.nodeId, request));
          return;
        }
        // The request gave up its place when the leader took it, so it needs another place.
        hold = this.#holds.enter();
      }
      if (outcome === 'not-taken') hold = this.#holds.enter(hold);
      // Look again at once when the leader has changed in the meantime: no event will tell of that change any more.
      if (hold !== undefined && !isSame(target, this.#holds.target())) continue;
      if (hold === undefined || !(await hold.again())) {
        hold?.leave();
        hold = undefined;
      }
    }
    hold?.leave();
    if (hold === undefined && !isGone()) refuse('DRV_NOT_LEADER', NOBODY);
  }

  #poolTo(leader: Leader): TunnelPool {
    this.#retireFormer();
    this.#present ??= new TunnelPool(leader, this.#options.dial, this.#options.clock);
    return this.#present;
  }

  #noteOwn(): void {
    const isLeader = this.#options.leadership.isLeader();
    if (this.#hasLed && !isLeader) this.#options.onLeft();
    this.#hasLed = isLeader;
  }

  #retireFormer(): void {
    const present = this.#present;
    if (present === undefined) return;
    const target = this.#holds.target();
    // Keep the tunnels while no master leads: the last leader may still answer the requests on them, and may lead
    // again.
    if (target === undefined || (target !== 'here' && target.epoch === present.leader.epoch)) return;
    this.#present = undefined;
    this.#retired.add(present);
    present.retire(() => this.#retired.delete(present));
  }
}

function isQuestion({ method }: IncomingMessage): boolean {
  return method === 'GET' || method === 'HEAD';
}

function refuse({ request, response }: Exchange, code: Refusal, error: string): void {
  const body = Buffer.from(JSON.stringify({ error, code }));
  const status = statusOfCode(code);
  response.writeHead(status, {
    'content-type': 'application/json; charset=utf-8',
    'content-length': body.length,
    ...(status === 503 && { 'retry-after': RETRY_AFTER_S }),
    ...(code === 'DRV_NOT_LEADER' && { [NOT_TAKEN]: '1' }),
  });
  response.end(body, () => dropRest(request));
}

function lostText(nodeId: string, { method, url = '' }: IncomingMessage): string {
  const [path] = url.split('?', 1);
  return `master ${nodeId} led and went away before it answered: whether ${method} ${path} took effect is not known; look at the state before repeating it`;
}
