/**
 * Counts the RAM, CPU and ports that instances hold on each node. It follows the instance mirror, and adds promises:
 * placements whose write is under way. Because of these promises two rounds never give out the same port. An instance
 * whose record is set aside holds what can still be read of the record.
 */
import {
  isSamePort,
  type NamedPort,
  type OwnPorts,
  type PortNeed,
  type PortProtocol,
  type Protocols,
  portsOf,
  protocolsOf,
} from '../../../src/model/fields/ports.js';
import { type InstancePlacement, type InstanceRecord, isAtRest } from '../../../src/model/instance.js';
import { isSameValue } from '../../../src/model/plain/same-value.js';
import { leftOfInstance } from '../../../src/state/left-of-record.js';
import type { MirrorReader } from '../../../src/store/mirror.js';
import type { FleetChanges } from './fleet-changes.js';
import { countFree, HeldPorts, lowestFree } from './held-ports.js';

interface NodeUse {
  readonly ramMB: number;
  readonly cpu: number;
  readonly instances: number;
}

type HeldByProtocol = Readonly<Record<PortProtocol, HeldPorts>>;

/** Both hold a port: no two instances of one node have the same, nor two under one host address. */
interface Address {
  readonly nodeId: string;
  readonly hostAddress: string;
}

interface Holding extends OwnPorts, Address {
  readonly ramMB: number;
  readonly cpu: number;
  readonly configurationName: string;
  readonly isAtRest: boolean;
}

interface Tally {
  ramMB: number;
  cpu: number;
  instances: number;
  readonly byConfiguration: Map<string, number>;
}

/** The instances that are counted. */
export type LedgerInstances = Pick<MirrorReader<InstanceRecord>, 'get' | 'entries' | 'setAside' | 'onChange'>;

const NO_PORTS: HeldByProtocol = { tcp: new HeldPorts(), udp: new HeldPorts() };

export class PlacementLedger {
  /** The holding of each instance, by id: its promise if there is one, else its record. */
  readonly #holdings = new Map<string, Holding>();
  readonly #promised = new Set<string>();
  readonly #tallies = new Map<string, Tally>();
  readonly #onNodes = new Map<string, HeldByProtocol>();
  readonly #underHosts = new Map<string, HeldByProtocol>();
  readonly #instances: LedgerInstances;
  readonly #changes: FleetChanges;

  /** Follows the mirror from now on. */
  constructor(instances: LedgerInstances, changes: FleetChanges) {
    this.#instances = instances;
    this.#changes = changes;
    instances.onChange((id) => this.#take(id));
    for (const [id] of instances.entries()) this.#take(id);
    for (const id of instances.setAside.keys()) this.#take(id);
  }

  use(nodeId: string): NodeUse {
    return this.#tallies.get(nodeId) ?? { ramMB: 0, cpu: 0, instances: 0 };
  }

  /** How many instances of a configuration there are on a node, without those at rest. */
  countOf(nodeId: string, configurationName: string): number {
    return this.#tallies.get(nodeId)?.byConfiguration.get(configurationName) ?? 0;
  }

  /**
   * The instance that holds the port on the node or under the host address, other than `except` and those that share
   * it on the node.
   */
  holderOf(at: Address, wanted: Omit<NamedPort, 'name'>, except: string): string | undefined {
    for (const held of this.#portsOf(at, wanted.protocol)) {
      const holder = held.holderOf(wanted.port, except);
      if (holder !== undefined && !this.#shares(holder, at, wanted)) return holder;
    }
    return undefined;
  }

  /** True where all that the holder has of the port, on this node, is shared with the configuration that wants it. */
  #shares(holder: string, { nodeId }: Address, wanted: Omit<NamedPort, 'name'>): boolean {
    const held = wanted.sharedBy === undefined ? undefined : this.#holdings.get(holder);
    return (
      held?.nodeId === nodeId &&
      portsOf(held)
        .filter((one) => isSamePort(one, wanted))
        .every(({ sharedBy }) => sharedBy === wanted.sharedBy)
    );
  }

  /** The ports of the range that instances hold on the node or under the host address, the lowest first. */
  heldPorts(at: Address, { min, max, protocol }: PortNeed): number[] {
    const all = this.#portsOf(at, protocol).flatMap((held) => [...held.ports()]);
    return all.filter((port) => port >= min && port <= max).sort((a, b) => a - b);
  }

  /** The lowest port of the range that no instance holds and `isBusy` does not refuse; undefined: none. */
  freePort(at: Address, need: PortNeed, isBusy: (port: number) => boolean): number | undefined {
    return lowestFree(this.#portsOf(at, need.protocol), need, isBusy);
  }

  /** How many ports of the range no instance holds on the node and under the host address; counted up to `most`. */
  countFreePorts(at: Address, need: PortNeed, most: number): number {
    return countFree(this.#portsOf(at, need.protocol), need, most);
  }

  isPromised(id: string): boolean {
    return this.#promised.has(id);
  }

  /** Counts a placement before it is written. */
  promise(record: InstanceRecord, placement: InstancePlacement): void {
    this.#promised.add(record.id);
    this.#replace(record.id, holdingOf(record, placement));
  }

  /**
   * Ends a promise, because its write succeeded or failed: from now on the record counts. Returns true when
   * that frees what was promised.
   */
  withdraw(id: string): boolean {
    if (!this.#promised.delete(id)) return false;
    const promised = this.#holdings.get(id);
    const held = this.#held(id);
    this.#replace(id, held);
    return promised?.nodeId !== held?.nodeId || !isSameValue(portsOf(promised ?? {}), portsOf(held ?? {}));
  }

  #take(id: string): void {
    // A promise counts until `withdraw`, which then reads the newest record.
    if (this.#promised.has(id)) return;
    this.#replace(id, this.#held(id));
  }

  #held(id: string): Holding | undefined {
    const record = this.#instances.get(id)?.value;
    if (record !== undefined) return currentHolding(record);
    const aside = this.#instances.setAside.get(id);
    return aside === undefined ? undefined : holdingOfSetAside(aside.value);
  }

  #replace(id: string, next: Holding | undefined): void {
    const before = this.#holdings.get(id);
    // Most changes of a record do not change what the instance holds.
    if (isSameValue(before, next)) return;
    if (before !== undefined) this.#count(id, before, -1);
    if (next === undefined) this.#holdings.delete(id);
    else {
      this.#holdings.set(id, next);
      this.#count(id, next, 1);
    }
  }

  #count(id: string, holding: Holding, sign: 1 | -1): void {
    const { nodeId, hostAddress, configurationName } = holding;
    const tally = this.#tally(nodeId);
    tally.ramMB += sign * holding.ramMB;
    tally.cpu += sign * holding.cpu;
    tally.instances += sign;
    if (!holding.isAtRest) {
      const count = (tally.byConfiguration.get(configurationName) ?? 0) + sign;
      if (count === 0) tally.byConfiguration.delete(configurationName);
      else tally.byConfiguration.set(configurationName, count);
    }
    this.#changes.note(sign === 1 ? 'less' : 'node', nodeId);
    const ports = portsOf(holding);
    if (ports.length === 0) return;
    const scopes = [heldAt(this.#onNodes, nodeId), heldAt(this.#underHosts, hostAddress)];
    for (const { port, protocol } of ports)
      for (const held of scopes)
        for (const one of protocolsOf(protocol))
          if (sign === 1) held[one].hold(port, id);
          else held[one].release(port, id);
    if (sign === -1) this.#changes.note('ports', hostAddress);
  }

  #portsOf({ nodeId, hostAddress }: Address, protocol: Protocols): readonly HeldPorts[] {
    const onNode = this.#onNodes.get(nodeId) ?? NO_PORTS;
    const underHost = this.#underHosts.get(hostAddress) ?? NO_PORTS;
    return protocolsOf(protocol).flatMap((one) => [onNode[one], underHost[one]]);
  }

  #tally(nodeId: string): Tally {
    let tally = this.#tallies.get(nodeId);
    if (tally === undefined) {
      tally = { ramMB: 0, cpu: 0, instances: 0, byConfiguration: new Map() };
      this.#tallies.set(nodeId, tally);
    }
    return tally;
  }
}

function heldAt(scopes: Map<string, HeldByProtocol>, key: string): HeldByProtocol {
  const held = scopes.get(key) ?? { tcp: new HeldPorts(), udp: new HeldPorts() };
  scopes.set(key, held);
  return held;
}

function currentHolding(record: InstanceRecord): Holding | undefined {
  const { placement, home, configurationName } = record;
  if (placement !== null) return holdingOf(record, placement);
  // The files of a static instance may name its ports, so nobody else gets its ports while the instance waits.
  if (!record.static || home === null || portsOf(home).length === 0) return undefined;
  return { ...home, hostAddress: '', ramMB: 0, cpu: 0, configurationName, isAtRest: true };
}

function holdingOfSetAside(value: unknown): Holding | undefined {
  const { placement, ramMB, cpu, configurationName } = leftOfInstance(value);
  return placement === null
    ? undefined
    : { ...placement, ramMB, cpu, configurationName: configurationName ?? '', isAtRest: false };
}

function holdingOf(record: InstanceRecord, placement: InstancePlacement): Holding {
  const isStopped = isAtRest(record);
  const { nodeId, hostAddress, port, ports, sharedBy } = placement;
  return {
    nodeId,
    hostAddress,
    port,
    ports,
    sharedBy,
    ramMB: isStopped ? 0 : record.ramMB,
    cpu: isStopped ? 0 : record.cpu,
    configurationName: record.configurationName,
    isAtRest: isStopped,
  };
}
