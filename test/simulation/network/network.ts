/**
 * The network between the machines, as TCP shows it. A connection delivers in order, perhaps late; when it breaks,
 * it loses what was under way. A cut silently drops packets, one way or both; what its connections kept arrives
 * after the heal. A machine without power answers nothing; a living one resets a connection that it does not know.
 */
import type { Transport } from '../../../src/channel/protocol/transport.js';
import { DroverError } from '../../../src/model/errors.js';
import type { Life } from '../machine/life.js';
import { Connection } from './connection.js';
import type { Direction, Path, PathOptions } from './path.js';

/** How long a connecting node waits for an answer, and when it knocks again until then, as a kernel does. */
const DIAL_MS = 10_000;
const KNOCK_AGAIN_MS: readonly number[] = [1000, 3000, 7000];

export interface NetworkOptions extends PathOptions {
  /** The machine of the master. */
  readonly masterId: string;
}

/** Who takes connections; absent: nobody listens, and a connection is refused. */
export interface Listener {
  readonly life: Life;
  /** `nodeId`: whose certificate the peer has shown; absent: it is in the same process. */
  accept(transport: Transport, nodeId?: string): void;
}

export class Network {
  listener: Listener | undefined;
  /** Machines without power: they neither refuse nor reset. */
  readonly off = new Set<string>();
  /** Nodes whose certificates the master has revoked. */
  readonly shutOut = new Set<string>();
  /** Messages sent, beats apart. */
  sent = 0;
  #isWhole = false;
  readonly #options: NetworkOptions;
  readonly #paths = new Map<string, Path>();
  readonly #connections = new Set<Connection>();

  constructor(options: NetworkOptions) {
    this.#options = options;
  }

  path(nodeId: string): Path {
    let path = this.#paths.get(nodeId);
    if (path === undefined) {
      path = { nodeId, cut: { up: false, down: false }, latencyMs: 2 };
      this.#paths.set(nodeId, path);
    }
    return path;
  }

  /** For a node's `connect`. Rejects when nobody answers. */
  connect(nodeId: string, life: Life): Promise<Transport> {
    return new Promise((resolve, reject) => {
      if (!life.effect('a connect')) return;
      if (this.listener?.life === life) resolve(this.#join(nodeId, life, this.listener));
      else this.#dial(nodeId, life, resolve, reject);
    });
  }

  /** No message is lost any more. */
  mend(): void {
    this.#isWhole = true;
  }

  /** Something about who can hear whom has changed. */
  refresh(): void {
    for (const connection of [...this.#connections]) connection.refresh();
  }

  cut(nodeId: string, directions: readonly Direction[]): void {
    for (const direction of directions) this.path(nodeId).cut[direction] = true;
    this.refresh();
  }

  heal(nodeId: string): void {
    const { cut } = this.path(nodeId);
    cut.up = false;
    cut.down = false;
    for (const connection of [...this.#connections]) if (connection.nodeId === nodeId) connection.resend();
    this.refresh();
  }

  /** Something on the way breaks the connection: each side loses the end of what was under way to it. */
  reset(nodeId: string): void {
    for (const connection of [...this.#connections]) if (connection.nodeId === nodeId) connection.breakOff();
  }

  /** The machine loses its power: what it said and had not been delivered is gone, and nobody is told. */
  powerOff(machineId: string): void {
    this.off.add(machineId);
    for (const connection of [...this.#connections]) {
      if (connection.nodeId === machineId) connection.silence('up');
      if (this.#options.masterId === machineId) connection.silence('down');
    }
    this.refresh();
  }

  #dial(
    nodeId: string,
    life: Life,
    resolve: (transport: Transport) => void,
    reject: (error: unknown) => void,
  ): void {
    const path = this.path(nodeId);
    let isOver = false;
    const fail = (why: string): void => {
      isOver = true;
      reject(new DroverError('DRV_CHANNEL_CLOSED', `the connection ${why}`));
    };
    const answer = (listener: Listener): void => {
      if (isOver || !life.isAlive) return;
      isOver = true;
      if (this.shutOut.has(nodeId)) {
        life.after(this.#latencyOf(path), () =>
          reject(new DroverError('DRV_JOIN_REFUSED', `${nodeId} is no member of the cluster`)),
        );
        return;
      }
      const transport = this.#join(nodeId, life, listener);
      life.after(this.#latencyOf(path), () => resolve(transport));
    };
    const knock = (): void => {
      if (isOver || path.cut.up || path.cut.down || this.off.has(this.#options.masterId)) return;
      const { listener } = this;
      if (listener === undefined) fail('was refused');
      else listener.life.after(0, () => answer(listener));
    };
    for (const ms of [0, ...KNOCK_AGAIN_MS]) life.after(ms + this.#latencyOf(path), knock);
    life.after(DIAL_MS, () => {
      if (!isOver) fail('timed out');
    });
  }

  #join(nodeId: string, node: Life, listener: Listener): Transport {
    const connection = new Connection({
      ...this.#options,
      path: this.path(nodeId),
      isLocal: listener.life === node,
      node,
      master: listener.life,
      onSend: ({ type }) => {
        if (type !== 'beat') this.sent++;
        const { lose } = this.#options.disorder;
        if (lose?.kind === type && !this.#isWhole && this.#options.random.chance(lose.probability))
          connection.breakOff();
      },
      isOff: (direction) => this.off.has(direction === 'up' ? this.#options.masterId : nodeId),
    });
    this.#connections.add(connection);
    connection.onEnd(() => this.#connections.delete(connection));
    listener.accept(connection.ends.down, listener.life === node ? undefined : nodeId);
    return connection.ends.up;
  }

  #latencyOf({ latencyMs }: Path): number {
    return this.#options.random.between(latencyMs / 2, latencyMs);
  }
}
