/** Ports that a node found held by something that is not ours; believed for a minute, in memory only. */
import type { Clock } from '../../../src/loop/clock.js';

export const BUSY_FOR_MS = 60_000;

export class BusyPorts {
  readonly #clock: Clock;
  /** Monotonic ms until which a port is believed busy, by node and port. */
  readonly #until = new Map<string, Map<number, number>>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  add(nodeId: string, port: number): void {
    const ports = this.#until.get(nodeId) ?? new Map<number, number>();
    this.#until.set(nodeId, ports.set(port, this.#clock.monotonic() + BUSY_FOR_MS));
  }

  has(nodeId: string, port: number): boolean {
    const until = this.#until.get(nodeId)?.get(port);
    if (until === undefined) return false;
    if (until > this.#clock.monotonic()) return true;
    this.#until.get(nodeId)?.delete(port);
    return false;
  }

  /** How many ports of a range are believed busy now. */
  countIn(nodeId: string, range: { min: number; max: number }): number {
    let count = 0;
    for (const port of [...(this.#until.get(nodeId)?.keys() ?? [])])
      if (port >= range.min && port <= range.max && this.has(nodeId, port)) count++;
    return count;
  }
}
