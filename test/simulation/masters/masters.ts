/** The several masters of a fleet: their etcd, the ways to it, and what is judged of their terms. */
import { z } from 'zod';
import type { Transport } from '../../../src/channel/protocol/transport.js';
import type { Leader } from '../../../src/leadership/leadership.js';
import { DroverError, type ErrorCode } from '../../../src/model/errors.js';
import type { Logger } from '../../../src/telemetry/logger.js';
import type { SimulatedDaemon, Uplink } from '../machine/daemon.js';
import type { Life } from '../machine/life.js';
import type { Machine } from '../machine/machine.js';
import type { MasterPlace } from '../machine/master-role.js';
import type { Network } from '../network/network.js';
import type { Direction, Path } from '../network/path.js';
import type { Random } from '../random.js';
import type { Scheduler } from '../scheduler.js';
import { ElectedMaster, REVOKED } from './elected-master.js';
import { SimulatedEtcd } from './etcd.js';
import { SimulatedEtcdClient } from './etcd-client.js';
import { EtcdPath } from './etcd-path.js';
import { masterFinder } from './master-finder.js';
import { Terms } from './terms.js';

/** Of what is refused with these nobody knows whether it was done. */
export const UNKNOWN_OUTCOME: readonly ErrorCode[] = ['DRV_STORE_UNAVAILABLE', 'DRV_NOT_LEADER'];

/** Nothing was done. */
const REFUSALS: readonly ErrorCode[] = ['DRV_STORE_WRITE_FAILED', 'DRV_STORE_CLOSED'];

/** The records that are there to be written. */
const WRITTEN = 'simulated-written/';
const WRITTEN_KEYS = 5;
const PORT = 6000;
const keptSchema = z.object({ epoch: z.int().nullable(), masters: z.array(z.unknown()) });

interface SimulatedMastersOptions {
  readonly masterIds: readonly string[];
  readonly scheduler: Scheduler;
  readonly random: Random;
  readonly network: Network;
  readonly machines: ReadonlyMap<string, Machine>;
  readonly daemons: ReadonlyMap<string, SimulatedDaemon>;
  readonly report: (violation: string) => void;
  readonly onTerm: () => void;
  /** A master has its state, and its node connects from now on. */
  readonly onOpen: (nodeId: string) => void;
}

export class SimulatedMasters {
  readonly etcd: SimulatedEtcd;
  readonly terms: Terms;
  readonly paths: ReadonlyMap<string, EtcdPath>;
  readonly #options: SimulatedMastersOptions;
  readonly #random: Random;
  /** By node, the highest term of a leader that the life of its daemon has taken. */
  readonly #taken = new WeakMap<Life, number>();
  /** Nodes that were told of all masters once. */
  readonly #introduced = new Set<string>();
  #asked = 0;
  #written = 0;

  constructor(options: SimulatedMastersOptions) {
    const { masterIds, scheduler, random, network, report, onTerm } = options;
    this.#options = options;
    this.#random = random.fork('etcd');
    this.etcd = new SimulatedEtcd(scheduler, this.#random.fork('leases'));
    this.terms = new Terms({ etcd: this.etcd, report, onTerm });
    this.paths = new Map(
      masterIds.map((id) => [id, new EtcdPath(this.etcd, scheduler, this.#random.fork(`to ${id}`))]),
    );
    this.terms.onCommit((changes) => {
      for (const { key, after } of changes)
        if (key.startsWith(REVOKED) && after !== undefined) network.shutOut.add(key.slice(REVOKED.length));
    });
  }

  get masterIds(): readonly string[] {
    return this.#options.masterIds;
  }

  isMaster(nodeId: string): boolean {
    return this.#options.masterIds.includes(nodeId);
  }

  /** The daemon of the master that holds the leader key and answers. */
  get leader(): SimulatedDaemon | undefined {
    const { holder } = this.terms;
    const daemon = this.#options.daemons.get(holder?.nodeId ?? '');
    const isOfNow = roleOf(daemon)?.leadership?.term()?.epoch === holder?.epoch;
    return daemon?.isReady === true && isOfNow ? daemon : undefined;
  }

  /** The daemon that answers a request to any of the masters: the one that it takes for the leader. */
  get reached(): SimulatedDaemon | undefined {
    const { masterIds, daemons, network } = this.#options;
    const asked = masterIds[this.#asked++ % masterIds.length] ?? '';
    const daemon = daemons.get(asked);
    if (daemon === undefined || daemon.life.isStalled) return undefined;
    const leaderId = roleOf(daemon)?.leadership?.leader()?.nodeId ?? '';
    const leader = daemons.get(leaderId);
    if (leader?.isReady !== true || leader.life.isStalled) return undefined;
    const { cut } = network.path(asked, leaderId);
    return leader !== daemon && (cut.up > 0 || cut.down > 0) ? undefined : leader;
  }

  /** Whether a node has ever had the chance to know all masters. */
  isIntroduced(nodeId: string): boolean {
    return this.isMaster(nodeId) || this.#introduced.has(nodeId);
  }

  /** A client writes one record, and checks what it is told. */
  write(): void {
    const store = roleOf(this.reached)?.store;
    const number = ++this.#written;
    const key = `${WRITTEN}${number % WRITTEN_KEYS}`;
    store?.transact([{ do: 'put', key, value: number }]).then(
      () => {
        if (Number(this.terms.entries.get(key)?.value ?? 0) < number)
          this.#options.report(`${key} was acknowledged as ${number}, and is not written`);
      },
      (error: unknown) => {
        const isRefused =
          isOutcomeUnknown(error) || (error instanceof DroverError && REFUSALS.includes(error.code));
        if (!isRefused) this.#options.report(String(error));
      },
    );
  }

  /** The role of a life of a daemon on a master's machine. */
  role(place: MasterPlace): ElectedMaster {
    const { network, scheduler, report } = this.#options;
    const { machine, life } = place;
    const { nodeId } = machine;
    const path = this.paths.get(nodeId);
    if (path === undefined) throw new Error(`${nodeId} is no master`);
    let renewalSentAt = Number.NEGATIVE_INFINITY;
    const etcd = new SimulatedEtcdClient({
      etcd: this.etcd,
      path,
      life,
      scheduler,
      random: life.random.fork('etcd'),
      onSend: (request) => this.terms.judgeSending(nodeId, request, scheduler.now - renewalSentAt),
      onArrive: (request) => this.terms.arrived(request),
      onRenewed: (sentAt) => {
        renewalSentAt = sentAt;
      },
    });
    return new ElectedMaster({
      ...place,
      etcd,
      onOpen: () => this.#options.onOpen(nodeId),
      onListening: (accept) => {
        if (life.isAlive) network.listeners.set(nodeId, { life, accept });
      },
      connectHere: (accept) => network.connect(network.path(nodeId, nodeId), life, accept),
      connectThere: (leader) => network.connect(network.path(nodeId, leader.nodeId), life),
      isMaster: (id) => this.isMaster(id),
      ask: (peer) => this.#ask(life, network.path(nodeId, peer.nodeId)),
      onLost: (error) => {
        report(`${nodeId} cannot follow the state any more: ${error.message}`);
        life.die('its state is lost');
      },
      onServing: (store) => void this.terms.judgeMemory(nodeId, store),
    });
  }

  /** How the daemon of a node that is only a wrapper finds the leader. */
  uplink(machine: Machine, life: Life, logger: Logger): Uplink {
    const { masterIds, machines } = this.#options;
    const { nodeId } = machine;
    // The machines of masters are there before all others.
    const contact = machines.get(masterIds[Number(nodeId.slice(4)) % masterIds.length] ?? '');
    return masterFinder({
      machine,
      life,
      contact: { host: contact?.address ?? '', port: PORT },
      dial: ({ host }) => this.#dial(nodeId, host, life),
      onTaken: (epoch) => this.#judgeTaken(machine, life, epoch),
      onKept: (before, after) => this.#judgeKept(nodeId, before, after),
      logger,
    });
  }

  /** The machine of a master is cut off: from etcd, and from all nodes that would reach it. `up`: what it says. */
  cutOff(nodeId: string, directions: readonly Direction[]): void {
    if (!this.isMaster(nodeId)) return;
    this.#options.network.cut(this.#pathsTo(nodeId), inward(directions));
    this.paths.get(nodeId)?.cut(directions);
  }

  letBack(nodeId: string, directions: readonly Direction[]): void {
    if (!this.isMaster(nodeId)) return;
    this.#options.network.heal(this.#pathsTo(nodeId), inward(directions));
    this.paths.get(nodeId)?.uncut(directions);
  }

  /** Faults end. */
  calm(): void {
    this.etcd.isFull = false;
    this.etcd.goUp();
    for (const path of this.paths.values()) path.heal();
  }

  /** One that is cut off, stopped or gone says nothing. */
  #ask(life: Life, { cut, masterId, latencyMs }: Path): Promise<Leader | null> {
    return new Promise((resolve) => {
      life.after(2 * latencyMs, () => {
        const daemon = this.#options.daemons.get(masterId);
        if (cut.up > 0 || cut.down > 0 || daemon === undefined || daemon.life.isStalled) return;
        resolve(roleOf(daemon)?.leadership?.leader() ?? null);
      });
    });
  }

  #pathsTo(masterId: string): Path[] {
    const { machines, network } = this.#options;
    return [...machines.keys()].map((nodeId) => network.path(nodeId, masterId));
  }

  #dial(nodeId: string, host: string, life: Life): Promise<Transport> {
    const { network, machines } = this.#options;
    const master = [...machines.values()].find(({ address }) => address === host);
    return network.connect(network.path(nodeId, master?.nodeId ?? ''), life);
  }

  /** A node never follows a leader after one of a later term. */
  #judgeTaken({ nodeId, keptMasters }: Machine, life: Life, epoch: number): void {
    const highest = Math.max(epochOf(keptMasters), this.#taken.get(life) ?? 0);
    if (epoch < highest)
      this.#options.report(`${nodeId} takes the leader of term ${epoch} after one of term ${highest}`);
    this.#taken.set(life, Math.max(epoch, highest));
  }

  #judgeKept(nodeId: string, before: string | undefined, after: string): void {
    if (epochOf(after) < epochOf(before))
      this.#options.report(
        `${nodeId} had term ${epochOf(before)} on its disk, and has ${epochOf(after)} now`,
      );
    if (keptSchema.parse(JSON.parse(after)).masters.length === this.masterIds.length)
      this.#introduced.add(nodeId);
  }
}

/** What a machine says, seen from those that would reach the master on it. */
function inward(directions: readonly Direction[]): Direction[] {
  return directions.map((direction) => (direction === 'up' ? 'down' : 'up'));
}

function roleOf(daemon: SimulatedDaemon | undefined): ElectedMaster | undefined {
  return daemon?.role instanceof ElectedMaster ? daemon.role : undefined;
}

export function isOutcomeUnknown(error: unknown): boolean {
  return error instanceof DroverError && UNKNOWN_OUTCOME.includes(error.code);
}

function epochOf(kept: string | undefined): number {
  return kept === undefined ? 0 : (keptSchema.parse(JSON.parse(kept)).epoch ?? 0);
}
