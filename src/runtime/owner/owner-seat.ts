/**
 * The seat of a root's owner: only one process can have it. The lock is a name in the kernel's table of abstract
 * sockets and lasts exactly as long as the process. A socket file alone cannot tell a dead owner from an owner about to
 * listen, and removing the wrong file makes two owners.
 */

import { once } from 'node:events';
import { chmodSync, existsSync, rmSync } from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';

const RETRY_MS = 20;
const PATIENCE_MS = 3000;

/**
 * Takes the seat and listens on `socketPath`. Undefined: another owner serves this root. Rejects when the holder of the
 * lock does not serve, or when the socket cannot be made.
 */
export async function takeSeat(
  lockName: string,
  socketPath: string,
  onConnection: (socket: Socket) => void,
): Promise<Seat | undefined> {
  let seat: Seat | undefined;
  const onKnock = (socket: Socket): void => {
    socket.destroy();
    void seat?.restore();
  };
  for (const giveUpAt = performance.now() + PATIENCE_MS; ; await wait(RETRY_MS)) {
    const lock = await listen(`\0${lockName}`, onKnock);
    if (lock !== undefined) {
      seat = new Seat(lock, socketPath, onConnection);
      await seat.restore();
      return seat;
    }
    if (await answers(socketPath)) return undefined;
    // The other owner is just starting or just leaving.
    if (performance.now() > giveUpAt)
      throw new Error(`the lock ${lockName} is held, but nobody answers on ${socketPath}`);
  }
}

export class Seat {
  readonly #lock: Server;
  readonly #socketPath: string;
  readonly #onConnection: (socket: Socket) => void;
  #server: Promise<Server> | undefined;
  #hasLeft = false;

  constructor(lock: Server, socketPath: string, onConnection: (socket: Socket) => void) {
    this.#lock = lock;
    this.#socketPath = socketPath;
    this.#onConnection = onConnection;
  }

  /** Listens, and listens again when the socket file was removed. Open connections stay. */
  async restore(): Promise<void> {
    const before = this.#server;
    if (this.#hasLeft || (before !== undefined && existsSync(this.#socketPath))) return;
    // Close the old server first: closing removes the file under the path, whatever it is by then.
    this.#server = (async () => {
      const server = await before?.catch(() => undefined);
      server?.close();
      return await listenPrivately(this.#socketPath, this.#onConnection);
    })();
    await this.#server;
  }

  /** Gives up the seat and removes its socket file, before the process ends. Idempotent. */
  leave(): void {
    if (this.#hasLeft) return;
    this.#hasLeft = true;
    rmSync(this.#socketPath, { force: true });
    this.#lock.close();
  }
}

/** True when a live owner holds this lock. The question also makes that owner restore a removed socket file. */
export function isSeatTaken(lockName: string): Promise<boolean> {
  return answers(`\0${lockName}`);
}

async function listenPrivately(socketPath: string, onConnection: (socket: Socket) => void): Promise<Server> {
  // Only the holder of the lock touches the file, so a present file is left from a dead owner.
  rmSync(socketPath, { force: true });
  const server = await listen(socketPath, onConnection);
  if (server === undefined) throw new Error(`${socketPath} is in use`);
  // Set the mode afterwards rather than a umask, which every instance would inherit.
  chmodSync(socketPath, 0o600);
  return server;
}

/** Listens on the address; undefined: it is in use. */
function listen(path: string, onConnection: (socket: Socket) => void): Promise<Server | undefined> {
  return new Promise((resolve, reject) => {
    const server = createServer(onConnection);
    server.once('error', (error) => {
      if ('code' in error && error.code === 'EADDRINUSE') resolve(undefined);
      else reject(error);
    });
    server.listen(path, () => resolve(server));
  });
}

async function answers(socketPath: string): Promise<boolean> {
  const socket = connect(socketPath);
  const isThere = await once(socket, 'connect').then(
    () => true,
    () => false,
  );
  socket.destroy();
  return isThere;
}
