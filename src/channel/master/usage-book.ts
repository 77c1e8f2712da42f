/**
 * Keeps what instances use, as their nodes said last. In memory only, beside the beats: each message of a node replaces
 * all of its samples, and the end of its connection drops them.
 */
import type { InstanceUsage, UsageSample } from '../../model/instance-usage.js';

export class UsageBook {
  readonly #nodes = new Map<string, ReadonlyMap<string, InstanceUsage>>();

  /** Takes everything that a node measured. `isPlaced` tells whether an instance is placed on that node. */
  take(nodeId: string, samples: readonly UsageSample[], isPlaced: (id: string) => boolean): void {
    const usages = new Map<string, InstanceUsage>();
    for (const [id, cpuSeconds, cpuPercent, memoryBytes, processes] of samples)
      if (isPlaced(id)) usages.set(id, { cpuSeconds, cpuPercent, memoryBytes, processes });
    this.#nodes.set(nodeId, usages);
  }

  forget(nodeId: string): void {
    this.#nodes.delete(nodeId);
  }

  get(nodeId: string, id: string): InstanceUsage | undefined {
    return this.#nodes.get(nodeId)?.get(id);
  }

  /** By instance id. */
  ofNode(nodeId: string): ReadonlyMap<string, InstanceUsage> {
    return this.#nodes.get(nodeId) ?? new Map();
  }

  nodes(): Iterable<string> {
    return this.#nodes.keys();
  }
}
