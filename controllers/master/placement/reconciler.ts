/**
 * The placement controller: gives each wanted instance without a node one that fits, and another port when its own is
 * busy. Key: instance id. A creation asks it before the write, so that the instance is created with its place.
 */
import { Conflict, type Reconciler } from '../../../src/loop/reconciler.js';
import { portsOf, portsText } from '../../../src/model/fields/ports.js';
import type { InstancePlacement, InstanceRecord } from '../../../src/model/instance.js';
import {
  type InstanceContent,
  withContentAt,
  withoutPlace,
  withPlace,
} from '../../../src/state/instance-changes.js';
import type { StateRecords } from '../../../src/state/master-state.js';
import { modify } from '../../../src/store/modify.js';
import type { Logger } from '../../../src/telemetry/logger.js';
import type { Metrics } from '../../../src/telemetry/metrics.js';
import { RepeatedLog } from '../../../src/telemetry/repeated-log.js';
import { placementAgain } from './again.js';
import { Places, type PlacesOptions, taskOf } from './places.js';
import { type PlacementFacts, type PlacementStep, plan } from './plan.js';

export interface PlacementOptions extends PlacesOptions, Omit<StateRecords, keyof PlacesOptions> {
  /** Aborts when this master no longer leads. Default: never. */
  readonly ending?: AbortSignal | undefined;
  /** Called when a promised place is not taken after all. No change of a record shows that to others. */
  readonly onPlaceFreed: () => void;
  readonly metrics: Metrics;
  readonly logger: Logger;
}

/** A new record as it is written, and what follows its transaction. */
export interface NewPlace {
  readonly record: InstanceRecord;
  /** Called once, when the transaction is in the mirror or has failed. Until then the place counts as held. */
  readonly end: (isWritten: boolean) => void;
}

/** A placed instance and the content that it is to take. */
export interface PlacedUpdate {
  readonly before: InstanceRecord;
  /** The record with the new content, at the old place. */
  readonly next: InstanceRecord;
  readonly content: InstanceContent;
}

/** A record as it is written, with its place. */
export interface PlaceAgain {
  readonly record: InstanceRecord;
  /**
   * Called before the write. From then on the place counts as held, until the returned function is called: see
   * `NewPlace`.
   */
  readonly promise: () => NewPlace['end'];
}

export class Placement implements Reconciler<PlacementFacts, PlacementStep> {
  readonly name = 'placement';
  readonly plan = plan;
  readonly #options: PlacementOptions;
  /** Logs equal explanations of one configuration once, however many of its instances wait. */
  readonly #explanations: RepeatedLog;
  /** Finds places. Other controllers and `why` use it, too. */
  readonly places: Places;

  constructor(options: PlacementOptions) {
    this.#options = options;
    this.#explanations = new RepeatedLog(options.logger, options.clock);
    this.places = new Places(options);
    options.nodes.onChange((nodeId) => options.changes.note('node', nodeId), options.ending);
  }

  observe(id: string): PlacementFacts | undefined {
    return this.places.factsOf(id);
  }

  /**
   * Decides the place of a record that is about to be created, as a round of this controller would. The
   * promised place counts as held until `end`.
   */
  placeNew(record: InstanceRecord): NewPlace {
    const [step] = plan(this.places.factsOfNew(record)).steps;
    switch (step?.do) {
      case undefined:
        return { record, end: () => undefined };
      case 'place':
        return this.#placeNew(record, step.placement);
      case 'explain':
        return {
          record: withoutPlace(record, step),
          end: (isWritten) => {
            if (isWritten) this.#noteExplained(record, step);
          },
        };
      default:
        return step satisfies never;
    }
  }

  /**
   * Decides the place of an instance that takes another content on its node. Throws DRV_UPDATE_REFUSED when the node
   * does not fit that content.
   */
  placeAgain(update: PlacedUpdate): PlaceAgain {
    const placement = placementAgain(this.#options, update);
    const record = withContentAt(update.next, placement);
    const promise = (): (() => void) => {
      this.#options.ledger.promise(record, placement);
      return () => this.#withdraw(record.id);
    };
    return { record, promise };
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

  #placeNew(record: InstanceRecord, placement: InstancePlacement): NewPlace {
    const { ledger } = this.#options;
    ledger.promise(record, placement);
    const end = (isWritten: boolean): void => {
      this.#withdraw(record.id);
      if (isWritten) this.#notePlaced(record, placement);
    };
    return { record: withPlace(record, placement), end };
  }

  async #place(step: PlacementStep & { do: 'place' }): Promise<void> {
    const { instances, instanceRecords, ledger } = this.#options;
    const { id, placement } = step;
    const { nodeId } = placement;
    const record = instances.get(id)?.value;
    if (record === undefined || taskOf(record) === null)
      throw new Conflict(`instance ${id} changed before its placement`);
    for (const one of portsOf(placement))
      if (ledger.holderOf(placement, one, id) !== undefined)
        throw new Conflict(`port ${one.port} was taken meanwhile`);
    ledger.promise(record, placement);
    try {
      const placed = await modify(instanceRecords, id, (current) => {
        // The place was chosen for `record.revision`; if an update in place changed the revision since, the place is
        // void.
        const isDue = taskOf(current) !== null && current.revision === record.revision;
        return isDue && this.#takes(nodeId, current) ? withPlace(current, placement) : undefined;
      });
      if (placed === undefined) throw new Conflict(`instance ${id} changed before its placement`);
    } finally {
      this.#withdraw(id);
    }
    this.#notePlaced(record, placement);
  }

  /** Ends the promise: from now on the record counts. */
  #withdraw(id: string): void {
    const { ledger, onPlaceFreed } = this.#options;
    if (ledger.withdraw(id)) onPlaceFreed();
  }

  #notePlaced({ id, configurationName }: InstanceRecord, placement: InstancePlacement): void {
    const { nodeId, port } = placement;
    const ports = portsText(placement);
    this.#options.logger.info(
      { instance: id, configuration: configurationName, node: nodeId, port, ...(ports && { ports }) },
      `placed ${id} (${configurationName}) on ${nodeId}${port === null ? '' : `, port ${port}`}${ports ? `, ${ports}` : ''}`,
    );
  }

  /**
   * True when the node still takes the instance; asked before each try to write. `NodeWriter.forget` relies
   * on it: a cordoned node gets no new instance.
   */
  #takes(nodeId: string, { placement }: InstanceRecord): boolean {
    return placement !== null || this.#options.nodes.get(nodeId)?.value.cordoned === false;
  }

  async #explain(step: PlacementStep & { do: 'explain' }): Promise<void> {
    const record = await modify(this.#options.instanceRecords, step.id, (current) =>
      current.desired.goal !== 'run' || current.placement !== null ? undefined : withoutPlace(current, step),
    );
    if (record !== undefined) this.#noteExplained(record, step);
  }

  #noteExplained(
    { id, configurationName: configuration }: InstanceRecord,
    { reason, message, conditions }: PlacementStep & { do: 'explain' },
  ): void {
    for (const condition of conditions) this.#options.metrics.placementFailures.inc({ reason: condition });
    this.#explanations.say(
      `${configuration}: ${message}`,
      `cannot place ${id} (${configuration}): ${message}`,
      { instance: id, configuration, reason },
    );
  }
}
