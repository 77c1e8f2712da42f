/**
 * Counts the RAM, the CPU and the ports that instances hold on each node. It follows the instance mirror, and adds
 * what was promised to placements whose write is under way. Because of these promises two rounds never give out the
 * same port. An instance whose record is set aside holds what can still be read of it.
 */
import { type InstancePlacement, type InstanceRecord, isAtRest } from '../../../src/model/instance.js';
import { leftOfInstance } from '../../../src/store/left-of-record.js';
import type { MirrorReader } from '../../../src/store/mirror.js';

export interface NodeUse {
  readonly ramMB: number;
  readonly cpu: number;
  readonly instances: number;
}

export interface PortRange {
  readonly min: number;
  readonly max: number;
}

interface Holding {
  readonly nodeId: string;
  readonly hostAddress: string;
  readonly port: number | null;
  readonly ramMB: number;
  readonly cpu: number;
  readonly configurationName: string;
}

interface Tally {
  ramMB: number;
  cpu: number;
  instances: number;
  readonly byConfiguration: Map<string, number>;
}

/** The lowest free port of a range is not below `from`. */
interface Hint extends PortRange {
  from: number;
}

export class PlacementLedger {
  /** By instance, what counts: the promise if there is one, else the record. */
  readonly #holdings = new Map<string, Holding>();
  readonly #promised = new Set<string>();
  readonly #tallies = new Map<string, Tally>();
  /** Holders of a port, by `node:<id>` or `host:<address>`. */
  readonly #ports = new Map<string, Map<number, string>>();
  readonly #hints = new Map<string, Hint>();
  readonly #instances: MirrorReader<InstanceRecord>;

  constructor(instances: MirrorReader<InstanceRecord>) {
    this.#instances = instances;
    instances.onChange((id) => this.#take(id));
  }

  use(nodeId: string): NodeUse {
    return this.#tallies.get(nodeId) ?? { ramMB: 0, cpu: 0, instances: 0 };
  }

  countOf(nodeId: string, configurationName: string): number {
    return this.#tallies.get(nodeId)?.byConfiguration.get(configurationName) ?? 0;
  }

  /** The instance that holds the port on the node or under the host address, other than `except`. */
  holderOf(nodeId: string, hostAddress: string, port: number, except: string): string | undefined {
    for (const scope of [`node:${nodeId}`, `host:${hostAddress}`]) {
      const holder = this.#ports.get(scope)?.get(port);
      if (holder !== undefined && holder !== except) return holder;
    }
    return undefined;
  }

  /** The lowest port of the range that no instance holds and `isBusy` does not refuse; undefined: none. */
  freePort(
    nodeId: string,
    hostAddress: string,
    range: PortRange,
    isBusy: (port: number) => boolean,
  ): number | undefined {
    const hint = this.#hint(`${nodeId}|${hostAddress}|${range.min}-${range.max}`, range);
    let isRunOfTaken = true;
    for (let port = hint.from; port <= range.max; port++) {
      const isTaken = this.holderOf(nodeId, hostAddress, port, '') !== undefined;
      if (!isTaken && !isBusy(port)) return port;
      // Busy ports come free without notice, so the hint stops before the first of them.
      if (isTaken && isRunOfTaken) hint.from = port + 1;
      else isRunOfTaken = false;
    }
    return undefined;
  }

  /** Counts a placement before it is written. */
  promise(record: InstanceRecord, placement: InstancePlacement): void {
    this.#promised.add(record.id);
    this.#replace(record.id, holdingOf(record, placement));
  }

  /**
   * Ends a promise: the write succeeded or failed, and from now on the record counts. True when what was promised
   * is free again.
   */
  withdraw(id: string): boolean {
    if (!this.#promised.delete(id)) return false;
    const promised = this.#holdings.get(id);
    const held = this.#held(id);
    this.#replace(id, held);
    return promised?.nodeId !== held?.nodeId || promised?.port !== held?.port;
  }

  #take(id: string): void {
    // The promise counts until `withdraw`, which reads the newest record.
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
    if (before !== undefined) this.#count(id, before, -1);
    if (next === undefined) this.#holdings.delete(id);
    else {
      this.#holdings.set(id, next);
      this.#count(id, next, 1);
    }
  }

  #count(id: string, holding: Holding, sign: 1 | -1): void {
    const tally = this.#tally(holding.nodeId);
    tally.ramMB += sign * holding.ramMB;
    tally.cpu += sign * holding.cpu;
    tally.instances += sign;
    const count = (tally.byConfiguration.get(holding.configurationName) ?? 0) + sign;
    if (count === 0) tally.byConfiguration.delete(holding.configurationName);
    else tally.byConfiguration.set(holding.configurationName, count);
    if (holding.port === null) return;
    for (const scope of [`node:${holding.nodeId}`, `host:${holding.hostAddress}`])
      this.#holdPort(scope, holding.port, id, sign === 1);
    if (sign === -1) this.#lowerHints(holding.port);
  }

  #holdPort(scope: string, port: number, id: string, isHeld: boolean): void {
    const holders = this.#ports.get(scope) ?? new Map<number, string>();
    this.#ports.set(scope, holders);
    if (isHeld) holders.set(port, id);
    else if (holders.get(port) === id) holders.delete(port);
  }

  #tally(nodeId: string): Tally {
    let tally = this.#tallies.get(nodeId);
    if (tally === undefined) {
      tally = { ramMB: 0, cpu: 0, instances: 0, byConfiguration: new Map() };
      this.#tallies.set(nodeId, tally);
    }
    return tally;
  }

  #hint(key: string, range: PortRange): Hint {
    let hint = this.#hints.get(key);
    if (hint === undefined) {
      hint = { ...range, from: range.min };
      this.#hints.set(key, hint);
    }
    return hint;
  }

  #lowerHints(port: number): void {
    for (const hint of this.#hints.values()) if (port >= hint.min && port < hint.from) hint.from = port;
  }
}

function currentHolding(record: InstanceRecord): Holding | undefined {
  return record.placement === null ? undefined : holdingOf(record, record.placement);
}

function holdingOfSetAside(value: unknown): Holding | undefined {
  const { placement, ramMB, cpu, configurationName } = leftOfInstance(value);
  return placement === null
    ? undefined
    : { ...placement, ramMB, cpu, configurationName: configurationName ?? '' };
}

function holdingOf(record: InstanceRecord, placement: InstancePlacement): Holding {
  const isStopped = isAtRest(record);
  return {
    nodeId: placement.nodeId,
    hostAddress: placement.hostAddress,
    port: placement.port,
    ramMB: isStopped ? 0 : record.ramMB,
    cpu: isStopped ? 0 : record.cpu,
    configurationName: record.configurationName,
  };
}
