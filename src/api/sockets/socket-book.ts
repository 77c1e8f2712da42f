/**
 * Knows every WebSocket, and every stream of lines, from its request to its end. It limits their number, pings the
 * WebSockets, and closes sockets when their key, their session or the server ends.
 */
import type { Socket } from 'node:net';
import type { Access } from '../../access/access.js';
import type { Clock, TimerHandle } from '../../loop/clock.js';
import { DroverError } from '../../model/errors.js';
import type { OpenSocket } from './open-socket.js';
import { CLOSE } from './socket.js';

/** How long clients may take to answer the close when the server stops. */
const STOP_GRACE_MS = 1000;

export interface SocketLimits {
  /** The limit for one key, or for one session. Default 64. */
  readonly perCaller: number;
  /** The limit for all sockets together. Default 1,024. */
  readonly total: number;
  /** The time between two pings. A client that shows no life in that time is closed. Default 30 s. */
  readonly pingMs: number;
}

/** The holder of a place: a WebSocket, or a stream of lines. A stream has no beat. */
type Sitter = Pick<OpenSocket, 'close' | 'revoke'> & Partial<Pick<OpenSocket, 'beat'>>;

/** The place of a socket, from before its upgrade until its connection has closed. */
interface Seat {
  readonly connection: Socket;
  socket: Sitter | undefined;
}

export class SocketBook {
  readonly #limits: SocketLimits;
  readonly #clock: Clock;
  readonly #seats = new Map<Socket, Seat>();
  readonly #perCaller = new Map<string, number>();
  #beat: TimerHandle | undefined;
  #stopping: Promise<void> | undefined;

  constructor(clock: Clock, { perCaller = 64, total = 1024, pingMs = 30_000 }: Partial<SocketLimits> = {}) {
    this.#clock = clock;
    this.#limits = { perCaller, total, pingMs };
  }

  /** How many sockets there are, including handshakes. */
  get size(): number {
    return this.#seats.size;
  }

  /**
   * Takes a place before the upgrade. The place is free again when `connection` has closed. Throws DRV_SOCKET_LIMIT.
   */
  reserve(access: Access, connection: Socket): void {
    const { name, session } = access;
    const ofCaller = this.#perCaller.get(name) ?? 0;
    const { perCaller, total } = this.#limits;
    if (ofCaller >= perCaller) {
      const [who, kind] = session === null ? [`key ${name}`, 'key'] : [name, 'session'];
      throw limited(`${who} holds ${perCaller} sockets, the most there may be of one ${kind}`);
    }
    if (this.#seats.size >= total) throw limited(`there are ${total} sockets, the most there may be`);
    // Refuse a second request on this connection: pipelined requests arrive while the first is being answered, and
    // each would wait in memory.
    if (this.#seats.has(connection)) throw limited('this connection carries a stream already');
    const seat: Seat = { connection, socket: undefined };
    this.#seats.set(connection, seat);
    this.#perCaller.set(name, ofCaller + 1);
    const unsubscribe = access.onEnded((reason) => revoke(seat, reason));
    connection.once('close', () => {
      unsubscribe();
      this.#release(connection, name);
    });
    this.#beat ??= this.#clock.setTimer(this.#limits.pingMs, () => this.#onBeat());
  }

  /** Called with the open socket: after the upgrade, or after the head of a stream's answer. */
  opened(connection: Socket, socket: Sitter): void {
    const seat = this.#seats.get(connection);
    if (seat === undefined || this.#stopping !== undefined) connection.destroy();
    else seat.socket = socket;
  }

  /**
   * Closes all sockets with 1001 and this reason, and ends their connections after 1 s. Resolves when all are closed.
   */
  async closeAll(reason: string): Promise<void> {
    const seats = [...this.#seats.values()];
    const ends = seats.map(({ connection }) => new Promise((resolve) => connection.once('close', resolve)));
    for (const { socket, connection } of seats) {
      if (socket === undefined) connection.destroy();
      else socket.close(CLOSE.goingAway, reason);
    }
    const timer = setTimeout(() => {
      for (const { connection } of seats) connection.destroy();
    }, STOP_GRACE_MS);
    await Promise.all(ends);
    clearTimeout(timer);
  }

  /** Closes all sockets, and takes no more. Idempotent. */
  stop(): Promise<void> {
    this.#beat?.cancel();
    this.#stopping ??= this.closeAll('the server stops');
    return this.#stopping;
  }

  #release(connection: Socket, name: string): void {
    this.#seats.delete(connection);
    const left = (this.#perCaller.get(name) ?? 1) - 1;
    if (left > 0) this.#perCaller.set(name, left);
    else this.#perCaller.delete(name);
  }

  #onBeat(): void {
    this.#beat = undefined;
    if (this.#seats.size === 0 || this.#stopping !== undefined) return;
    for (const { socket } of this.#seats.values()) socket?.beat?.();
    this.#beat = this.#clock.setTimer(this.#limits.pingMs, () => this.#onBeat());
  }
}

/** Closes the open socket of an ended access, or the connection of its handshake. */
function revoke({ socket, connection }: Seat, reason: string): void {
  if (socket === undefined) connection.destroy();
  else socket.revoke(reason);
}

function limited(what: string): DroverError {
  return new DroverError('DRV_SOCKET_LIMIT', `${what}: close one first`);
}
