/**
 * The placement controller: gives every wanted instance without a node one that fits, and another port when its own
 * is busy. Key: instance id.
 */
import { Conflict, type Reconciler } from '../../../src/loop/reconciler.js';
import type { InstancePlacement, InstanceRecord } from '../../../src/model/instance.js';
import { modify } from '../../../src/store/modify.js';
import type { Logger } from '../../../src/telemetry/logger.js';
import type { Metrics } from '../../../src/telemetry/metrics.js';
import { RepeatedLog } from '../../../src/telemetry/repeated-log.js';
import { Places, type PlacesOptions, taskOf } from './places.js';
import { type PlacementFacts, type PlacementStep, plan } from './plan.js';

export interface PlacementOptions extends PlacesOptions {
  /** Called when a promised place is not taken after all; no change of a record shows that. */
  readonly onPlaceFreed: () => void;
  readonly metrics: Metrics;
  readonly logger: Logger;
}

export class Placement implements Reconciler<PlacementFacts, PlacementStep> {
  readonly name = 'placement';
  readonly plan = plan;
  readonly #options: PlacementOptions;
  /** Equal explanations of one configuration are one line, however many of its instances wait. */
  readonly #explanations: RepeatedLog;
  /** The places that there are, for other controllers and for `why`. */
  readonly places: Places;

  constructor(options: PlacementOptions) {
    this.#options = options;
    this.#explanations = new RepeatedLog(options.logger, () => options.clock.monotonic());
    this.places = new Places(options);
  }

  observe(id: string): PlacementFacts | undefined {
    return this.places.factsOf(id);
  }

  async perform(step: PlacementStep): Promise<void> {
    switch (step.do) {
      case 'place':
        return this.#place(step);
      case 'explain':
        return this.#explain(step);
      default:
        return step satisfies never;
    }
  }

  async #place(step: PlacementStep & { do: 'place' }): Promise<void> {
    const { records, ledger, logger, onPlaceFreed } = this.#options;
    const { id, nodeId, port, hostAddress } = step;
    const record = records.mirror.get(id)?.value;
    if (record === undefined || taskOf(record) === null)
      throw new Conflict(`instance ${id} changed before its placement`);
    if (port !== null && ledger.holderOf(nodeId, hostAddress, port, id) !== undefined)
      throw new Conflict(`port ${port} was taken meanwhile`);
    const placement: InstancePlacement = { nodeId, port, hostAddress, templates: [...step.templates] };
    ledger.promise(record, placement);
    try {
      const placed = await modify(records, id, (current) =>
        taskOf(current) === null || !this.#takes(nodeId, current)
          ? undefined
          : withPlacement(current, placement),
      );
      if (placed === undefined) throw new Conflict(`instance ${id} changed before its placement`);
    } finally {
      if (ledger.withdraw(id)) onPlaceFreed();
    }
    logger.info(
      { instance: id, configuration: record.configurationName, node: nodeId, port },
      `placed ${id} (${record.configurationName}) on ${nodeId}${port === null ? '' : `, port ${port}`}`,
    );
  }

  /** Asked again before each try to write: once the cordon shows, `NodeWriter.forget` expects no new instance. */
  #takes(nodeId: string, { placement }: InstanceRecord): boolean {
    return placement !== null || this.#options.nodes.get(nodeId)?.value.cordoned === false;
  }

  async #explain(step: PlacementStep & { do: 'explain' }): Promise<void> {
    const { records, metrics } = this.#options;
    const { id, reason, message } = step;
    const record = await modify(records, id, (current) =>
      current.desired.goal !== 'run' || current.placement !== null
        ? undefined
        : { ...current, status: { ...current.status, reason, message } },
    );
    if (record === undefined) return;
    for (const condition of step.conditions) metrics.countPlacementFailure(condition);
    const { configurationName: configuration } = record;
    this.#explanations.warn(
      `${configuration}: ${message}`,
      `cannot place ${id} (${configuration}): ${message}`,
      { instance: id, configuration, reason },
    );
  }
}

function withPlacement(record: InstanceRecord, placement: InstancePlacement): InstanceRecord {
  const { nodeId, port } = placement;
  return {
    ...record,
    placement,
    home: { nodeId, port },
    status: { ...record.status, reason: null, message: null },
  };
}
