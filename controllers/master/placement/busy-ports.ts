/** Ports that nodes found held by other programs. A finding counts for a minute, and is kept in memory only. */

import type { PortProtocol } from '../../../src/channel/protocol/messages.js';
import type { Clock } from '../../../src/loop/clock.js';
import type { FleetChanges } from './fleet-changes.js';
import type { PortRange } from './held-ports.js';

export const BUSY_FOR_MS = 60_000;

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
    let count = 0;
    let firstFreeInMs = BUSY_FOR_MS;
    for (const port of this.#found.get(nodeId)?.keys() ?? []) {
      const busy = port >= range.min && port <= range.max ? this.get(nodeId, port) : undefined;
      if (busy === undefined) continue;
      count++;
      firstFreeInMs = Math.min(firstFreeInMs, BUSY_FOR_MS - busy.agoMs);
    }
    return count === 0 ? null : { count, firstFreeInMs };
  }
}
