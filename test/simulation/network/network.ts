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

/** How long a connecting node waits for an answer, also where it may ask another master. */
const DIAL_MS = 10_000;
const DIAL_ONE_OF_MANY_MS = 3000;
/** When it knocks again until then, as a kernel does. */
const KNOCK_AGAIN_MS: readonly number[] = [1000, 3000, 7000];

interface NetworkOptions extends PathOptions {
  /** The machines of the masters. */
  readonly masterIds: readonly string[];
}

/** Who takes connections at a master's machine; absent: nobody listens, and a connection is refused. */
export interface Listener {
  readonly life: Life;
  /** `nodeId`: whose certificate the peer has shown; absent: it is in the same process. */
  accept(transport: Transport, nodeId?: string): void;
}

export class Network {
  /** By the id of the master's machine. */
  readonly listeners = new Map<string, Listener>();
  /** Machines without power: they neither refuse nor reset. */
  readonly off = new Set<string>();
  /** Nodes whose certificates a master has revoked. */
  readonly shutOut = new Set<string>();
  /** Messages sent, beats apart. */
  sent = 0;
  #isWhole = false;
  readonly #options: NetworkOptions;
  readonly #paths = new Map<string, Path>();
  readonly #connections = new Set<Connection>();
  /** The master that took a node's last connection. */
  readonly #lastMasters = new Map<string, string>();

  constructor(options: NetworkOptions) {
    this.#options = options;
  }

  path(nodeId: string, masterId: string): Path {
    const name = `${nodeId} ${masterId}`;
    let path = this.#paths.get(name);
    if (path === undefined) {
      path = { nodeId, masterId, cut: { up: 0, down: 0 }, latencyMs: 2 };
      this.#paths.set(name, path);
    }
    return path;
  }

  /** The paths of a node to all masters. */
  pathsOf(nodeId: string): Path[] {
    return this.#options.masterIds.map((masterId) => this.path(nodeId, masterId));
  }

  /** The master that a node is connected to; undefined: it was cut short, and `lastMasterOf` it. */
  masterOf(nodeId: string): string | undefined {
    return [...this.#connections].find(({ path, isOpen }) => path.nodeId === nodeId && isOpen)?.path.masterId;
  }

  lastMasterOf(nodeId: string): string | undefined {
    return this.#lastMasters.get(nodeId);
  }

  /** For a node's `connect`. `own`: the master in the same process takes it. Rejects when nobody answers. */
  connect(path: Path, life: Life, own?: Listener['accept']): Promise<Transport> {
    return new Promise((resolve, reject) => {
      if (!life.effect('a connect')) return;
      const listener = own === undefined ? this.listeners.get(path.masterId) : { life, accept: own };
      if (listener?.life === life) resolve(this.#join(path, life, listener));
      else this.#dial(path, life, { resolve, reject });
    });
  }

  /** All cuts end, and no message is lost any more. */
  mend(): void {
    this.#isWhole = true;
    for (const { cut } of this.#paths.values()) {
      cut.up = 0;
      cut.down = 0;
    }
    this.#mended([...this.#paths.values()]);
  }

  /** Something about who can hear whom has changed. */
  refresh(): void {
    for (const connection of [...this.#connections]) connection.refresh();
  }

  cut(paths: readonly Path[], directions: readonly Direction[]): void {
    for (const path of paths) for (const direction of directions) path.cut[direction]++;
    this.refresh();
  }

  /** The end of one cut. */
  heal(paths: readonly Path[], directions: readonly Direction[]): void {
    for (const { cut } of paths)
      for (const direction of directions) cut[direction] = Math.max(0, cut[direction] - 1);
    this.#mended(paths);
  }

  /** Something on the way breaks the connections: each side loses the end of what was under way to it. */
  reset(paths: readonly Path[]): void {
    for (const connection of [...this.#connections])
      if (paths.includes(connection.path)) connection.breakOff();
  }

  /** The machine loses its power: what it said and had not been delivered is gone, and nobody is told. */
  powerOff(machineId: string): void {
    this.off.add(machineId);
    for (const connection of [...this.#connections]) {
      if (connection.path.nodeId === machineId) connection.silence('up');
      if (connection.path.masterId === machineId) connection.silence('down');
    }
    this.refresh();
  }

  #mended(paths: readonly Path[]): void {
    for (const connection of [...this.#connections]) if (paths.includes(connection.path)) connection.resend();
    this.refresh();
  }

  #dial(
    path: Path,
    life: Life,
    {
      resolve,
      reject,
    }: { readonly resolve: (transport: Transport) => void; readonly reject: (error: unknown) => void },
  ): void {
    const { nodeId, masterId } = path;
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
      const transport = this.#join(path, life, listener);
      life.after(this.#latencyOf(path), () => resolve(transport));
    };
    const knock = (): void => {
      if (isOver || path.cut.up > 0 || path.cut.down > 0 || this.off.has(masterId)) return;
      const listener = this.listeners.get(masterId);
      if (listener === undefined) fail('was refused');
      else listener.life.after(0, () => answer(listener));
    };
    for (const ms of [0, ...KNOCK_AGAIN_MS]) life.after(ms + this.#latencyOf(path), knock);
    const isOnly = this.#options.masterIds.length === 1;
    life.after(isOnly ? DIAL_MS : DIAL_ONE_OF_MANY_MS, () => {
      if (!isOver) fail('timed out');
    });
  }

  #join(path: Path, node: Life, listener: Listener): Transport {
    const { nodeId, masterId } = path;
    const connection = new Connection({
      ...this.#options,
      path,
      isLocal: listener.life === node,
      node,
      master: listener.life,
      onSend: ({ type }) => {
        if (type !== 'beat') this.sent++;
        const { lose } = this.#options.disorder;
        if (lose?.kind === type && !this.#isWhole && this.#options.random.chance(lose.probability))
          connection.breakOff();
      },
      isOff: (direction) => this.off.has(direction === 'up' ? masterId : nodeId),
    });
    this.#connections.add(connection);
    this.#lastMasters.set(nodeId, masterId);
    connection.onEnd(() => this.#connections.delete(connection));
    listener.accept(connection.ends.down, listener.life === node ? undefined : nodeId);
    return connection.ends.up;
  }

  #latencyOf({ latencyMs }: Path): number {
    return this.#options.random.between(latencyMs / 2, latencyMs);
  }
}
