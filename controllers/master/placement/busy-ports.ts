/**
 * Ports that nodes found held by other programs. A finding counts for a minute. Where no
 * other port is left, a port is tried again some seconds after it was found busy. Kept in memory only.
 */

import type { PortProtocol } from '../../../src/channel/protocol/messages.js';
import type { Clock } from '../../../src/loop/clock.js';
import type { FleetChanges } from './fleet-changes.js';
import type { PortRange } from './held-ports.js';

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

  has(nodeId: string, port: number): boolean {
    return this.get(nodeId, port) !== undefined;
  }

  /** How and when a port was found busy; undefined: no node found it busy within the last minute. */
  get(nodeId: string, port: number): BusyPort | undefined {
    const found = this.#found.get(nodeId)?.get(port);
    if (found === undefined) return undefined;
    const agoMs = this.#clock.monotonic() - found.at;
    return agoMs < BUSY_FOR_MS ? { protocol: found.protocol, agoMs } : undefined;
  }

  /**
   * How many ports of a range count as busy now, and how long until the first of them counts as free again.
   * Null: none is busy.
   */
  in(nodeId: string, range: PortRange): { readonly count: number; readonly firstFreeInMs: number } | null {
    const busy = this.#in(nodeId, range);
    const oldestMs = Math.max(...busy.map(({ agoMs }) => agoMs));
    return busy.length === 0 ? null : { count: busy.length, firstFreeInMs: BUSY_FOR_MS - oldestMs };
  }

  /** The busy port of the range that is worth another try: found longest ago, and `isHeld` by no instance. */
  worthATry(nodeId: string, range: PortRange, isHeld: (port: number) => boolean): number | undefined {
    const busy = this.#in(nodeId, range);
    const afterMs = tryAgainAfterMs(busy.length);
    return busy
      .filter(({ port, agoMs }) => agoMs >= afterMs && !isHeld(port))
      .toSorted((a, b) => b.agoMs - a.agoMs || a.port - b.port)[0]?.port;
  }

  #in(nodeId: string, { min, max }: PortRange): { readonly port: number; readonly agoMs: number }[] {
    return [...(this.#found.get(nodeId)?.keys() ?? [])].flatMap((port) => {
      const busy = port >= min && port <= max ? this.get(nodeId, port) : undefined;
      return busy === undefined ? [] : [{ port, agoMs: busy.agoMs }];
    });
  }
}

function tryAgainAfterMs(count: number): number {
  return Math.min(BUSY_FOR_MS, Math.max(TRY_AGAIN_MS, count * TRY_AGAIN_PER_PORT_MS));
}
