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

  /** How and when a port was found busy for the protocol; undefined: no node found it so within the last minute. */
  get(nodeId: string, port: number, of: Protocols): BusyPort | undefined {
    const found = this.#found.get(nodeId)?.get(port);
    if (found === undefined || (of !== 'both' && (found.protocol ?? of) !== of)) return undefined;
    const agoMs = this.#clock.monotonic() - found.at;
    return agoMs < BUSY_FOR_MS ? { protocol: found.protocol, agoMs } : undefined;
  }

  /**
   * How many numbers of a need count as busy now, and how long until the first of them counts as free again.
   * Null: none is busy.
   */
  in(nodeId: string, need: PortNeed): { readonly count: number; readonly firstFreeInMs: number } | null {
    const busy = this.#in(nodeId, need);
    const oldestMs = Math.max(...busy.values());
    return busy.size === 0 ? null : { count: busy.size, firstFreeInMs: BUSY_FOR_MS - oldestMs };
  }

  /** The busy number of the need that is worth another try: found longest ago, and `fits`. */
  worthATry(nodeId: string, need: PortNeed, fits: (port: number) => boolean): number | undefined {
    const busy = this.#in(nodeId, need);
    const afterMs = tryAgainAfterMs(busy.size);
    return [...busy]
      .filter(([port, agoMs]) => agoMs >= afterMs && fits(port))
      .toSorted(([a, agoA], [b, agoB]) => agoB - agoA || a - b)[0]?.[0];
  }

  /** The numbers of the need that are busy, or have a busy port above them, each with the age of the last finding. */
  #in(nodeId: string, { min, max, group }: PortNeed): ReadonlyMap<number, number> {
    const agoOf = new Map<number, number>();
    for (const port of this.#found.get(nodeId)?.keys() ?? [])
      for (const { above, protocol } of group) {
        const number = port - above;
        const agoMs = this.get(nodeId, port, protocol)?.agoMs;
        if (agoMs !== undefined && number >= min && number <= max)
          agoOf.set(number, Math.min(agoMs, agoOf.get(number) ?? agoMs));
      }
    return agoOf;
  }
}

function tryAgainAfterMs(count: number): number {
  return Math.min(BUSY_FOR_MS, Math.max(TRY_AGAIN_MS, count * TRY_AGAIN_PER_PORT_MS));
}
