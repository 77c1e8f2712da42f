/**
 * Remembers since when each node is in order, and how much has happened to the fleet lately. The invariants use it
 * to tell a lost node from one that is only called lost, and needless creations from those that faults caused.
 */
import type { Scheduler } from './scheduler.js';

export class Troubles {
  readonly #scheduler: Scheduler;
  /** Virtual time of the end of the last trouble, by node. */
  readonly #overAt = new Map<string, number>();
  /** Virtual time at which a trouble began or ended last, by node. */
  readonly #changedAt = new Map<string, number>();
  /** Troubles that last, by node. */
  readonly #lasting = new Map<string, number>();
  readonly #disturbedAt: number[] = [];

  constructor(scheduler: Scheduler) {
    this.#scheduler = scheduler;
  }

  /** Something happened that may cost or cut off instances. */
  disturb(): void {
    this.#disturbedAt.push(this.#scheduler.now);
  }

  /** Things that happened within the last so many ms. */
  disturbances(withinMs: number): number {
    return this.#disturbedAt.filter((at) => this.#scheduler.now - at < withinMs).length;
  }

  begin(nodeId: string): void {
    this.disturb();
    this.#lasting.set(nodeId, (this.#lasting.get(nodeId) ?? 0) + 1);
    this.#changedAt.set(nodeId, this.#scheduler.now);
  }

  end(nodeId: string): void {
    this.#lasting.set(nodeId, Math.max(0, (this.#lasting.get(nodeId) ?? 0) - 1));
    this.jolt(nodeId);
  }

  /** A short one, over at once. */
  jolt(nodeId: string): void {
    this.disturb();
    this.#overAt.set(nodeId, this.#scheduler.now);
    this.#changedAt.set(nodeId, this.#scheduler.now);
  }

  /** Virtual time since which nothing has become worse or better. */
  unchangedSince(nodeId: string): number {
    return this.#changedAt.get(nodeId) ?? 0;
  }

  /** Virtual time since which nothing has been wrong; infinite: something is. */
  inOrderSince(nodeId: string): number {
    return (this.#lasting.get(nodeId) ?? 0) > 0 ? Number.POSITIVE_INFINITY : (this.#overAt.get(nodeId) ?? 0);
  }
}
