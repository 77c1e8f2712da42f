/**
 * The connections of a follower to one leader. Each is a tunnel through the leader's cluster port into its API, and
 * carries requests one after another, or one WebSocket. A request takes an idle tunnel, or waits for a new one.
 */
import { setMaxListeners } from 'node:events';
import { Agent } from 'node:http';
import type { Duplex } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import type { Leader } from '../../leadership/leadership.js';
import type { Clock, TimerHandle } from '../../loop/clock.js';
import { channelClosed } from '../../model/errors.js';

/**
 * How long an idle tunnel is kept: far shorter than the leader's own limit, so that the leader does not close a
 * tunnel just when a request takes it.
 */
const IDLE_MS = 20_000;
/**
 * How long the exchanges under way may go on when another master leads. The former leader may still answer them, and
 * does so at once, because it writes nothing any more. A leader that stalls or was cut off does not answer, and its
 * clients wait.
 */
const RETIRE_MS = 300;
/** How often TCP probes a tunnel, so that a silent leader is noticed soon, even under a request that sends nothing. */
const KEEP_ALIVE_MS = 2000;

/** Opens a tunnel into the API of the leader. Throws when there is no leader at the other end. */
export type TunnelDial = (leader: Leader, signal: AbortSignal) => Promise<TLSSocket>;

export class TunnelPool {
  readonly leader: Leader;
  /** The agent for `http.request`, which keeps the idle tunnels. */
  readonly agent = new Agent({ keepAlive: true, timeout: IDLE_MS, scheduling: 'lifo' });
  readonly #dial: TunnelDial;
  readonly #clock: Clock;
  readonly #tunnels = new Set<TLSSocket>();
  readonly #ending = new AbortController();
  #timer: TimerHandle | undefined;

  constructor(leader: Leader, dial: TunnelDial, clock: Clock) {
    this.leader = leader;
    this.#dial = dial;
    this.#clock = clock;
    this.agent.createConnection = (_options, done = () => undefined) => {
      this.open().then(
        (connection) => done(null, connection),
        // Pass the error without a connection, as Node's own agent does.
        (error: Error) => Reflect.apply(done, undefined, [error]),
      );
      return undefined;
    };
    // Each tunnel that is being dialled adds a listener, and Node would warn from the 11th on.
    setMaxListeners(0, this.#ending.signal);
  }

  /** Opens a tunnel for one request or for a WebSocket. `Places` limits their number. Throws like `dial`. */
  async open(): Promise<Duplex> {
    const tunnel = await this.#dial(this.leader, this.#ending.signal);
    this.#tunnels.add(tunnel);
    tunnel.once('close', () => this.#tunnels.delete(tunnel));
    // A user of the tunnel listens for errors as well, but an idle tunnel has no other listener.
    tunnel.on('error', () => tunnel.destroy());
    tunnel.setKeepAlive(true, KEEP_ALIVE_MS);
    return tunnel;
  }

  /** Called once, when another master leads: exchanges under way have a moment to end, then `done` is called. */
  retire(done: () => void): void {
    this.#timer = this.#clock.setTimer(RETIRE_MS, () => {
      this.close();
      done();
    });
  }

  /** Ends all tunnels. Idempotent. */
  close(): void {
    this.#timer?.cancel();
    this.#ending.abort(channelClosed('another master leads'));
    this.agent.destroy();
    for (const tunnel of this.#tunnels) tunnel.destroy();
  }
}
