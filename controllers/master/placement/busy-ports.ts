/**
 * Ports that nodes found held by other programs. A finding counts for a minute. Where no
 * other port is left, a port is tried again some seconds after it was found busy. Kept in memory only.
 */

import type { Clock } from '../../../src/loop/clock.js';
import type { PortNeed, PortProtocol, Protocols } from '../../../src/model/fields/ports.js';
import type { FleetChanges } from './fleet-changes.js';

export const BUSY_FOR_MS = 60_000;
/** How old a finding must be before its port is tried again, because the range has no other port. */
export const TRY_AGAIN_MS = 5000;
/** Each busy port of the range adds so much: every try writes a record. */
const TRY_AGAIN_PER_PORT_MS = 250;

interface BusyPort {
  /** Null: the node did not say. */
  readonly protocol: PortProtocol | null;
  readonly agoMs: number;
}

interface Found {
  /** Monotonic ms. */
  readonly at: number;
  readonly protocol: PortProtocol | null;
}

export class BusyPorts {
  readonly #clock: Clock;
  readonly #changes: FleetChanges;
  /** The findings by node and port. */
  readonly #found = new Map<string, Map<number, Found>>();

  constructor(clock: Clock, changes: FleetChanges) {
    this.#clock = clock;
    this.#changes = changes;
  }

  add(nodeId: string, port: number, protocol: PortProtocol | null): void {
    const at = this.#clock.monotonic();
    const believed = [...(this.#found.get(nodeId) ?? [])].filter(([, found]) => at - found.at < BUSY_FOR_MS);
    this.#found.set(nodeId, new Map(believed).set(port, { at, protocol }));
    this.#changes.note('node', nodeId);
  }

  /** True when a program may hold the port for the protocol. */
  has(nodeId: string, port: number, protocol: Protocols): boolean {
    const found = this.get(nodeId, port)?.protocol;
    return found === null || (found !== undefined && (protocol === 'both' || protocol === found));
  }

  /** How and when a port was found busy; undefined: no node found it busy within the last minute. */
  get(nodeId: string, port: number): BusyPort | undefined {
    const found = this.#found.get(nodeId)?.get(port);
    if (found === undefined) return undefined;
    const agoMs = this.#clock.monotonic() - found.at;
    return agoMs < BUSY_FOR_MS ? { protocol: found.protocol, agoMs } : undefined;
  }

  /**
   * How many ports of a need count as busy now, and how long until the first of them counts as free again.
   * Null: none is busy.
   */
  in(nodeId: string, need: PortNeed): { readonly count: number; readonly firstFreeInMs: number } | null {
    const busy = this.#in(nodeId, need);
    const oldestMs = Math.max(...busy.map(({ agoMs }) => agoMs));
    return busy.length === 0 ? null : { count: busy.length, firstFreeInMs: BUSY_FOR_MS - oldestMs };
  }

  /** The busy port that is worth another try as the number of the need: found longest ago, and `fits`. */
  worthATry(nodeId: string, need: PortNeed, fits: (port: number) => boolean): number | undefined {
    const busy = this.#in(nodeId, need);
    const afterMs = tryAgainAfterMs(busy.length);
    return busy
      .filter(({ port, agoMs }) => agoMs >= afterMs && port >= need.min && port <= need.max && fits(port))
      .toSorted((a, b) => b.agoMs - a.agoMs || a.port - b.port)[0]?.port;
  }

  #in(nodeId: string, { min, max, group }: PortNeed): { readonly port: number; readonly agoMs: number }[] {
    return [...(this.#found.get(nodeId)?.keys() ?? [])].flatMap((port) => {
      const isOfIt = group.some(
        ({ above, protocol }) =>
          port >= min + above && port <= max + above && this.has(nodeId, port, protocol),
      );
      const busy = isOfIt ? this.get(nodeId, port) : undefined;
      return busy === undefined ? [] : [{ port, agoMs: busy.agoMs }];
    });
  }
}

function tryAgainAfterMs(count: number): number {
  return Math.min(BUSY_FOR_MS, Math.max(TRY_AGAIN_MS, count * TRY_AGAIN_PER_PORT_MS));
}
