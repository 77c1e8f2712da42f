/**
 * The connections of a follower to one leader. Each is a tunnel through the leader's cluster port into its API, and
 * carries one request after another, or one WebSocket. A request takes an idle tunnel, or waits for a new one.
 */
import { setMaxListeners } from 'node:events';
import { Agent } from 'node:http';
import type { Duplex } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import type { Clock, TimerHandle } from '../../loop/clock.js';
import { DroverError } from '../../model/errors.js';

/** Many clients that follow something, each by a tunnel of its own. Beyond them requests are answered with 503. */
const MOST_TUNNELS = 1024;
/** Far less than the leader keeps an idle connection: it must not close one that is just taken. */
const IDLE_MS = 20_000;
/**
 * How long what is under way may go on when another master leads. The former one may still answer it, and does so at
 * once: it writes nothing any more. One that stalls or was cut off does not, and its clients wait.
 */
const RETIRE_MS = 300;
/** A leader that is silent is noticed soon, also under a request that nothing is sent for. */
const KEEP_ALIVE_MS = 2000;

export interface TunnelPoolOptions {
  /** Opens a tunnel. Throws when there is no leader at the other end. */
  readonly dial: (signal: AbortSignal) => Promise<TLSSocket>;
  readonly clock: Clock;
}

export class TunnelPool {
  /** For `http.request`: it keeps the tunnels that are idle. */
  readonly agent: Agent;
  readonly #options: TunnelPoolOptions;
  readonly #tunnels = new Set<TLSSocket>();
  readonly #ending = new AbortController();
  #dialing = 0;
  #timer: TimerHandle | undefined;

  constructor(options: TunnelPoolOptions) {
    this.#options = options;
    this.agent = new TunnelAgent(() => this.open());
    // One for each tunnel that is being dialled.
    setMaxListeners(0, this.#ending.signal);
  }

  /** Opens a tunnel for one request or for a WebSocket. Throws like `dial`, and DRV_NOT_READY when there are too many. */
  async open(): Promise<Duplex> {
    if (this.#tunnels.size + this.#dialing >= MOST_TUNNELS)
      throw new DroverError('DRV_NOT_READY', `${MOST_TUNNELS} requests are on their way to the leader`);
    this.#dialing++;
    try {
      const tunnel = await this.#options.dial(this.#ending.signal);
      this.#tunnels.add(tunnel);
      tunnel.once('close', () => this.#tunnels.delete(tunnel));
      // Whoever uses it listens as well. An idle one has nobody else.
      tunnel.on('error', () => tunnel.destroy());
      tunnel.setKeepAlive(true, KEEP_ALIVE_MS);
      return tunnel;
    } finally {
      this.#dialing--;
    }
  }

  /** Another master leads: what is under way has a moment to end, then `done` is called. Called once. */
  retire(done: () => void): void {
    this.#timer = this.#options.clock.setTimer(RETIRE_MS, () => {
      this.close();
      done();
    });
  }

  /** Ends all tunnels. Idempotent. */
  close(): void {
    this.#timer?.cancel();
    this.#ending.abort(new DroverError('DRV_CHANNEL_CLOSED', 'another master leads'));
    this.agent.destroy();
    for (const tunnel of this.#tunnels) tunnel.destroy();
  }
}

class TunnelAgent extends Agent {
  readonly #open: () => Promise<Duplex>;

  constructor(open: () => Promise<Duplex>) {
    super({ keepAlive: true, timeout: IDLE_MS, scheduling: 'lifo' });
    this.#open = open;
  }

  override createConnection(
    _options: unknown,
    done?: (error: Error | null, connection: Duplex) => void,
  ): undefined {
    this.#open().then(
      (connection) => done?.(null, connection),
      // Node's own agent gives no connection with an error either.
      (error: Error) => Reflect.apply(done ?? (() => undefined), undefined, [error]),
    );
  }
}
