/**
 * Keeps the newest measured usage of each instance, in memory only. Each usage message of a node replaces all samples
 * of that node, and the end of the node's connection drops them.
 */
import type { InstanceUsage, UsageSample } from '../../model/run/instance-usage.js';
import { usageLabels } from '../../telemetry/usage-exposition.js';

/** A measured instance with the labels of its metrics, so that a scrape of thousands of instances reads no records. */
export interface MeasuredInstance {
  readonly configuration: string;
  /** The labels of the metrics, made once for all samples of the instance. */
  readonly labels: string;
  readonly used: InstanceUsage;
}

interface UsageListener {
  measured(id: string, nodeId: string, instance: MeasuredInstance): void;
  /** Called when the usage of the instance on that node is no longer known. */
  gone(id: string, nodeId: string): void;
}

export class UsageBook {
  readonly #listeners = new Set<UsageListener>();
  readonly #nodes = new Map<string, Map<string, MeasuredInstance>>();

  /**
   * Takes everything that a node measured. `configurationOf` returns the configuration of an instance that is placed on
   * that node. It returns undefined for any other instance, and for an instance that is being removed.
   */
  take(
    nodeId: string,
    samples: readonly UsageSample[],
    configurationOf: (id: string) => string | undefined,
  ): void {
    const before = this.#nodes.get(nodeId);
    const measured = new Map<string, MeasuredInstance>();
    for (const [id, cpuSeconds, cpuPercent, memoryBytes, processes] of samples) {
      const configuration = configurationOf(id);
      if (configuration === undefined) continue;
      const used = { cpuSeconds, cpuPercent, memoryBytes, processes };
      const known = before?.get(id);
      const labels =
        known?.configuration === configuration ? known.labels : usageLabels(id, configuration, nodeId);
      measured.set(id, { configuration, labels, used });
    }
    this.#nodes.set(nodeId, measured);
    for (const listener of this.#listeners) {
      for (const [id, instance] of measured) listener.measured(id, nodeId, instance);
      for (const id of before?.keys() ?? []) if (!measured.has(id)) listener.gone(id, nodeId);
    }
  }

  /** Drops an instance that has left the node, or is being removed. */
  drop(nodeId: string, id: string): void {
    if (this.#nodes.get(nodeId)?.delete(id) !== true) return;
    for (const listener of this.#listeners) listener.gone(id, nodeId);
  }

  forget(nodeId: string): void {
    const before = this.#nodes.get(nodeId);
    this.#nodes.delete(nodeId);
    for (const listener of this.#listeners) for (const id of before?.keys() ?? []) listener.gone(id, nodeId);
  }

  /** Calls the listener with the present usage, then with each change. Returns the function that unsubscribes. */
  follow(listener: UsageListener): () => void {
    for (const [nodeId, measured] of this.#nodes)
      for (const [id, instance] of measured) listener.measured(id, nodeId, instance);
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  get(nodeId: string, id: string): InstanceUsage | undefined {
    return this.#nodes.get(nodeId)?.get(id)?.used;
  }

  *ofNode(nodeId: string): Generator<InstanceUsage> {
    for (const { used } of this.#nodes.get(nodeId)?.values() ?? []) yield used;
  }

  /**
   * Yields the measured instances of the nodes that are in the book now. A node that reconnects meanwhile is yielded
   * only once.
   */
  *all(): Generator<MeasuredInstance> {
    for (const measured of [...this.#nodes.values()]) yield* measured.values();
  }
}
