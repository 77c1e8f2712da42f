/**
 * The placement controller: gives every wanted instance without a node one that fits, and another port when its own
 * is busy. Key: instance id.
 */
import type { PlacementView } from '../../../src/explain/decisions.js';
import type { Clock } from '../../../src/loop/clock.js';
import { Conflict, type Reconciler } from '../../../src/loop/reconciler.js';
import type { Configuration } from '../../../src/model/configuration.js';
import type { InstancePlacement, InstanceRecord, PlacedTemplate } from '../../../src/model/instance.js';
import type { NodeRecord } from '../../../src/model/node.js';
import type { MirrorReader } from '../../../src/store/mirror.js';
import { modify, type RecordSet } from '../../../src/store/modify.js';
import type { Logger } from '../../../src/telemetry/logger.js';
import type { Metrics } from '../../../src/telemetry/metrics.js';
import { RepeatedLog } from '../../../src/telemetry/repeated-log.js';
import type { BusyPorts } from './busy-ports.js';
import type { Candidate } from './conditions.js';
import type { PlacementLedger } from './ledger.js';
import { type PlacementFacts, type PlacementStep, plan, recheckOf } from './plan.js';
import { viewOf } from './view.js';

export interface PlacementOptions {
  readonly records: RecordSet<InstanceRecord>;
  readonly revisions: MirrorReader<Configuration>;
  readonly nodes: MirrorReader<NodeRecord>;
  readonly ledger: PlacementLedger;
  readonly busyPorts: BusyPorts;
  readonly chooseTemplates: (
    configuration: Configuration,
    instanceId: string,
  ) => { readonly templates: readonly PlacedTemplate[]; readonly problems: readonly string[] };
  /** `hostAddress` of the configuration with its variables replaced, or the node's address. */
  readonly hostAddressOf: (configuration: Configuration, node: NodeRecord) => string;
  /** Called when a promised place is not taken after all; no change of a record shows that. */
  readonly onPlaceFreed: () => void;
  readonly metrics: Metrics;
  readonly logger: Logger;
  readonly clock: Clock;
}

/** The fields of a record that placement reads, also for an instance that does not exist yet. */
type Placeable = Pick<
  InstanceRecord,
  'id' | 'configurationName' | 'runtime' | 'ramMB' | 'cpu' | 'static' | 'placement' | 'home'
>;

export class Placement implements Reconciler<PlacementFacts, PlacementStep> {
  readonly name = 'placement';
  readonly #options: PlacementOptions;
  /** Equal explanations of one configuration are one line, however many of its instances wait. */
  readonly #explanations: RepeatedLog;

  constructor(options: PlacementOptions) {
    this.#options = options;
    this.#explanations = new RepeatedLog(options.logger, () => options.clock.monotonic());
  }

  observe(id: string): PlacementFacts | undefined {
    const { records, revisions } = this.#options;
    const record = records.mirror.get(id)?.value;
    if (record === undefined) return undefined;
    const task = this.#taskOf(record);
    const configuration = revisions.get(record.revision)?.value;
    // The revision arrives with a change of its own, which wakes this key again.
    if (task === null || configuration === undefined) return idle(record);
    return this.#factsOf(record, configuration, task, record.status.message);
  }

  /** The fit of each node for an instance that waits for a place or another port; undefined: it waits for neither. */
  viewOf(id: string): PlacementView | undefined {
    const facts = this.observe(id);
    return facts === undefined || facts.task === null ? undefined : viewOf(facts, this.#options);
  }

  /** The fit of each node for one more instance of the configuration. */
  viewOfNext(configuration: Configuration): PlacementView {
    const next = { ...configuration, id: '', configurationName: configuration.name };
    const facts = this.#factsOf({ ...next, placement: null, home: null }, configuration, 'place', null);
    return viewOf(facts, this.#options);
  }

  plan(facts: PlacementFacts) {
    const planned = plan(facts);
    const recheckInMs = recheckOf(facts.candidates);
    return recheckInMs === null ? planned : { ...planned, recheckInMs };
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

  #taskOf(record: InstanceRecord): PlacementFacts['task'] {
    if (record.desired.goal !== 'run') return null;
    if (record.placement === null) return 'place';
    const isBusy = record.status.reason === 'port-busy' && record.placement.port !== null;
    return isBusy && record.status.pid === null ? 'move' : null;
  }

  #factsOf(
    record: Placeable,
    configuration: Configuration,
    task: 'place' | 'move',
    message: string | null,
  ): PlacementFacts {
    const chosen = record.placement ?? { ...this.#options.chooseTemplates(configuration, record.id) };
    return {
      id: record.id,
      configurationName: record.configurationName,
      task,
      runtime: record.runtime,
      ramMB: task === 'move' ? 0 : record.ramMB,
      cpu: task === 'move' ? 0 : record.cpu,
      ports: configuration.availablePorts,
      allowedNodes: configuration.nodes,
      home: homeOf(record, task),
      candidates: this.#candidates(record, configuration, task),
      templates: chosen.templates,
      templateProblems: 'problems' in chosen ? chosen.problems : [],
      message,
    };
  }

  #candidates(record: Placeable, configuration: Configuration, task: 'place' | 'move'): Candidate[] {
    const candidates: Candidate[] = [];
    for (const [, { value: node }] of this.#options.nodes.entries()) {
      // Only the port changes, on the same node: nothing else is wrong there.
      if (task === 'move' && node.nodeId !== record.placement?.nodeId) continue;
      candidates.push(this.#candidate(node, record, configuration));
    }
    return candidates;
  }

  #candidate(node: NodeRecord, record: Placeable, configuration: Configuration): Candidate {
    const { ledger, busyPorts, hostAddressOf } = this.#options;
    const { nodeId, capacity } = node;
    const use = ledger.use(nodeId);
    const hostAddress = hostAddressOf(configuration, node);
    const range = configuration.availablePorts;
    return {
      nodeId,
      condition: node.condition,
      conditionSince: node.conditionSince,
      // A cordon does not keep an instance that is already there from another port.
      isCordoned: node.cordoned && record.placement === null,
      isAllowed: configuration.nodes.length === 0 || configuration.nodes.includes(nodeId),
      runtimeProblem: runtimeProblemOf(node, record.runtime),
      freeRamMB: capacity.maxRamMB - use.ramMB,
      maxRamMB: capacity.maxRamMB,
      freeCpu: capacity.maxCpu - use.cpu,
      maxCpu: capacity.maxCpu,
      siblings: ledger.countOf(nodeId, record.configurationName),
      hostAddress,
      port: range === undefined ? null : this.#choosePort(nodeId, hostAddress, record, range),
      busyPorts: range === undefined ? 0 : busyPorts.countIn(nodeId, range),
    };
  }

  /** The port that the instance had last, if it is still free; else the lowest free one. */
  #choosePort(
    nodeId: string,
    hostAddress: string,
    record: Placeable,
    range: { min: number; max: number },
  ): number | undefined {
    const { ledger, busyPorts } = this.#options;
    // An instance that has a port now looks for another one: its own is busy, even if an earlier master learned
    // that.
    const old = record.placement === null && record.home?.nodeId === nodeId ? record.home.port : null;
    const isOldFree =
      old !== null &&
      old >= range.min &&
      old <= range.max &&
      !busyPorts.has(nodeId, old) &&
      ledger.holderOf(nodeId, hostAddress, old, record.id) === undefined;
    return isOldFree
      ? old
      : ledger.freePort(nodeId, hostAddress, range, (port) => busyPorts.has(nodeId, port));
  }

  async #place(step: PlacementStep & { do: 'place' }): Promise<void> {
    const { records, ledger, logger, onPlaceFreed } = this.#options;
    const { id, nodeId, port, hostAddress } = step;
    const record = records.mirror.get(id)?.value;
    if (record === undefined || this.#taskOf(record) === null)
      throw new Conflict(`instance ${id} changed before its placement`);
    if (port !== null && ledger.holderOf(nodeId, hostAddress, port, id) !== undefined)
      throw new Conflict(`port ${port} was taken meanwhile`);
    const placement: InstancePlacement = { nodeId, port, hostAddress, templates: [...step.templates] };
    ledger.promise(record, placement);
    try {
      const placed = await modify(records, id, (current) =>
        this.#taskOf(current) === null || !this.#takes(nodeId, current)
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

function idle(record: InstanceRecord): PlacementFacts {
  return {
    id: record.id,
    configurationName: record.configurationName,
    task: null,
    runtime: record.runtime,
    ramMB: record.ramMB,
    cpu: record.cpu,
    ports: undefined,
    allowedNodes: [],
    home: null,
    candidates: [],
    templates: [],
    templateProblems: [],
    message: null,
  };
}

function runtimeProblemOf(node: NodeRecord, runtime: string): string | null {
  const offer = node.runtimes.find(({ key }) => key === runtime);
  if (offer === undefined) return 'the node has no such runtime';
  return offer.available ? null : (offer.reason ?? 'it is not available');
}

function homeOf(record: Placeable, task: 'place' | 'move'): PlacementFacts['home'] {
  if (task === 'move' || record.home === null) return null;
  return { nodeId: record.home.nodeId, isBinding: record.static };
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
