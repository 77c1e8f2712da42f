/**
 * Composition root of the master: state, controllers and channel over a store and a clock that are handed in. The
 * same master runs in the daemon, in benchmarks and under a virtual clock. Files, API and process are the daemon's.
 */

import { BusyPorts } from '../controllers/master/placement/busy-ports.js';
import { FleetChanges } from '../controllers/master/placement/fleet-changes.js';
import { PlacementLedger } from '../controllers/master/placement/ledger.js';
import { buildMasterControllers, type MasterControllers } from '../controllers/master/register.js';
import { BeatBook } from './channel/master/beat-book.js';
import { Hub } from './channel/master/hub.js';
import { StatusIntake } from './channel/master/status-intake.js';
import type { UsageBook } from './channel/master/usage-book.js';
import type { CallPeer } from './channel/protocol/calls.js';
import type { MessageOf } from './channel/protocol/messages.js';
import type { Transport } from './channel/protocol/transport.js';
import { askForDescriptions } from './channel/services/instance-description.js';
import { InstanceStreams } from './channel/services/instance-streams.js';
import { InstanceTerminals } from './channel/services/instance-terminals.js';
import { requestFetch, type TreeServer, templateServices } from './channel/services/template-relay.js';
import type { Peer } from './channel/trust/members.js';
import type { RecordFollower } from './configuration-files/record-follower.js';
import type { ConfigurationSource } from './configuration-files/source.js';
import type { ServiceView } from './explain/decisions.js';
import { FactsExplainer, type FileReports } from './explain/explainer.js';
import type { Explainer } from './explain/explanation.js';
import type { Clock } from './loop/clock.js';
import type { Part } from './loop/lifecycle.js';
import { type Configuration, isBroughtBy } from './model/configuration.js';
import type { NodeRecord } from './model/node.js';
import type { DrainProgress } from './model/node-drain.js';
import { type InstanceUsage, sumOfUsage } from './model/run/instance-usage.js';
import type { TreeResult } from './model/template.js';
import type { Forecaster } from './operations/plan/forecast.js';
import { InstanceWriter } from './store/instance-writes.js';
import { InstanceCounts } from './store/instances/instance-counts.js';
import { MasterState } from './store/master-state.js';
import { NodeWriter, type ShutOutOptions } from './store/node-writes.js';
import { RolloutWriter } from './store/rollout-writes.js';
import type { Store } from './store/store.js';
import type { Logger } from './telemetry/logger.js';
import type { MetricSources, Metrics } from './telemetry/metrics.js';
import type { NodeFigures } from './telemetry/node-gauges.js';
import { chooseTemplates } from './templates/library/choose.js';

/** The templates that a master gives out: `TemplateSources`, or a fake. */
export interface TemplateSource extends TreeServer {
  groups(): ReadonlyMap<string, readonly string[]>;
  /** Keys of the storages that configurations may name, without `local`. */
  storages(): readonly string[];
  digest(group: string, name: string, storage: string): Promise<string | null>;
  /** Why `digest` may soon have a newer answer, for a person; undefined: no look for one is under way. */
  news(group: string, name: string, storage: string): string | undefined;
  onChange(listener: (group: string, name: string) => void): () => void;
}

export interface MasterOptions {
  readonly clusterName: string;
  readonly address: MessageOf<'welcome'>['master'];
  readonly nodeTimeoutMs: number;
  readonly store: Store;
  /** What the configuration files say. */
  readonly configurationSource: ConfigurationSource;
  readonly templates: TemplateSource;
  readonly issueInstanceToken: (instanceId: string, createdAt: number) => string;
  readonly hostAddressOf: (configuration: Configuration, node: NodeRecord) => string;
  /** Revokes a node's credential when the node is forgotten. Absent: nodes have none. */
  readonly revokeNode?: (nodeId: string, options: ShutOutOptions) => Promise<string | undefined>;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly random: () => number;
  /** Whether controllers look at everything again over time, in case a change did not wake them. Default true. */
  readonly isResynced?: boolean;
  /** Makes ids of instances. Default: random ones. */
  readonly newInstanceId?: () => string;
  readonly logger: Logger;
}

export class Master implements Part {
  readonly state: MasterState;
  readonly beats: BeatBook;
  readonly writer: InstanceWriter;
  readonly nodeWriter: NodeWriter;
  readonly rolloutWriter: RolloutWriter;
  readonly streams: InstanceStreams;
  readonly terminals: InstanceTerminals;
  readonly #options: MasterOptions;
  readonly #ledger: PlacementLedger;
  readonly #counts: InstanceCounts;
  readonly #hub: Hub;
  readonly #controllers: MasterControllers;
  #unsubscribe: (() => void) | undefined;

  constructor(options: MasterOptions) {
    const { store, clock, logger, metrics } = options;
    this.#options = options;
    this.state = new MasterState(store, logger);
    this.beats = new BeatBook(clock);
    const { newInstanceId, isResynced } = options;
    this.writer = new InstanceWriter({
      ...this.state,
      clock,
      isInForce: async (record) =>
        !isBroughtBy(record, options.address.nodeId) ||
        record.removalWaits === true ||
        options.configurationSource.isAsRead(record.sourceFile),
      placeNew: (record) => this.#controllers.placeNew(record),
      placeAgain: (update) => this.#controllers.placeAgain(update),
      ...(newInstanceId !== undefined && { newInstanceId }),
    });
    const changes = new FleetChanges();
    this.#ledger = new PlacementLedger(this.state.instances, changes);
    this.#counts = new InstanceCounts(this.state.instances);
    const busyPorts = new BusyPorts(clock, changes);
    this.#hub = this.#buildHub(busyPorts);
    this.nodeWriter = this.#buildNodeWriter();
    this.rolloutWriter = new RolloutWriter({ ...this.state, clock });
    this.streams = new InstanceStreams((nodeId) => this.#hub.callsOf(nodeId));
    this.terminals = new InstanceTerminals((nodeId) => this.#hub.callsOf(nodeId));
    this.#controllers = buildMasterControllers({
      state: this.state,
      writer: this.writer,
      beats: this.beats,
      nodeTimeoutMs: options.nodeTimeoutMs,
      configurationSource: options.configurationSource,
      placement: {
        ledger: this.#ledger,
        busyPorts,
        changes,
        chooseTemplates: (configuration, id) =>
          chooseTemplates(configuration.templateInstallationConfig, id, {
            groups: options.templates.groups(),
            storages: options.templates.storages(),
          }),
        hostAddressOf: options.hostAddressOf,
      },
      templateDigest: (group, name, storage) => options.templates.digest(group, name, storage),
      metrics,
      clock,
      random: options.random,
      ...(isResynced !== undefined && { isResynced }),
      logger,
    });
  }

  /**
   * Loads the state. From then on the records of configurations follow the files; all other decisions begin with
   * `startControllers`.
   */
  async start(): Promise<void> {
    await this.state.start();
    this.#controllers.configurationFollower.start();
    this.beats.start();
    this.#hub.start();
    this.#unsubscribe = this.#options.templates.onChange((group, name) => this.#templateChanged(group, name));
  }

  /** Starts all other controllers. The configuration files have been read by then. */
  async startControllers(): Promise<void> {
    await this.#controllers.start();
  }

  /** Stops the controllers. Channel and state stay, so that wrappers can still report. Idempotent. */
  async stopControllers(): Promise<void> {
    await this.#controllers.stop();
  }

  async stop(): Promise<void> {
    this.#unsubscribe?.();
    await this.#controllers.stop();
    await this.#controllers.configurationFollower.stop();
    await this.#hub.stop();
    this.beats.stop();
    await this.state.stop();
  }

  /**
   * Takes a wrapper's connection. `peer` is the node that the cluster port identified; absent for the wrapper in
   * this process.
   */
  accept(transport: Transport, peer?: Peer): void {
    this.#hub.accept(transport, peer);
  }

  get configurationFollower(): RecordFollower {
    return this.#controllers.configurationFollower;
  }

  /** The calls of a connected node. Throws DRV_NODE_DISCONNECTED. */
  callsOf(nodeId: string): CallPeer {
    return this.#hub.callsOf(nodeId);
  }

  /** Resolves when no controller has anything due or running. */
  whenIdle(): Promise<void> {
    return this.#controllers.whenIdle();
  }

  /** Looks at everything again now, as the resync does over time. */
  resyncNow(): void {
    this.#controllers.resyncNow();
  }

  /** The connected nodes, and how to ask one to fetch trees ahead of need. */
  get prefetching(): {
    connected(): readonly string[];
    fetch(nodeId: string, digests: readonly string[], signal: AbortSignal): AsyncIterable<TreeResult>;
  } {
    return {
      connected: () => this.#hub.connected(),
      fetch: (nodeId, digests, signal) => requestFetch(this.#hub.callsOf(nodeId), digests, signal),
    };
  }

  /** RAM and CPU of the instances that placement counts on a node. */
  usedOf(nodeId: string): { readonly ramMB: number; readonly cpu: number } {
    return this.#ledger.use(nodeId);
  }

  /** What an instance uses, as its node last measured. Undefined: the node is away, or has not measured it yet. */
  usageOf(id: string): InstanceUsage | undefined {
    const nodeId = this.state.instances.get(id)?.value.placement?.nodeId;
    return nodeId === undefined ? undefined : this.#hub.usage.get(nodeId, id);
  }

  /** What instances use, as their nodes last measured. */
  get usages(): Pick<UsageBook, 'follow'> {
    return this.#hub.usage;
  }

  /** The sum of what is used on a node; undefined: nothing was measured there. */
  usageOfNode(nodeId: string): InstanceUsage | undefined {
    return sumOfUsage(this.#hub.usage.ofNode(nodeId));
  }

  /** How far the drain of a node has come; undefined: the node is not being drained. */
  drainOf(nodeId: string): DrainProgress | undefined {
    return this.#controllers.drains.progressOf(nodeId);
  }

  /** What minimum-service counts of a configuration, and what it is about to do; undefined: no such configuration. */
  serviceOf(configurationName: string): ServiceView | undefined {
    return this.#controllers.decisions.serviceOf(configurationName);
  }

  /** What the controllers would make of contents that are not in force, for plans. */
  get forecaster(): Forecaster {
    return this.#controllers.forecaster;
  }

  /** Explains instances, configurations and nodes. */
  explainer(files: FileReports): Explainer {
    return new FactsExplainer({
      ...this.state,
      files,
      decisions: this.#controllers.decisions,
      usedOf: (nodeId) => this.usedOf(nodeId),
      drainOf: (nodeId) => this.drainOf(nodeId),
      askNode: (question) => askForDescriptions((nodeId) => this.#hub.callsOf(nodeId), question),
      clock: this.#options.clock,
    });
  }

  /** The figures of instances and services in `/metrics`. */
  metricSources(): Omit<MetricSources, 'configurationFileErrors'> {
    const { configurations } = this.state;
    const { usage } = this.#hub;
    const { minimumService } = this.#controllers;
    return {
      unreadableRecords: () => this.state.unreadableCounts(),
      instances: () => this.#counts.entries(),
      *minimums() {
        for (const [name, { value }] of configurations.entries())
          yield { configuration: name, minimum: value.configuration.minimumServiceCount };
      },
      actualOf: (name) => minimumService.actual(name),
      usages: () => usage.all(),
    };
  }

  /** The figures of nodes in `/metrics`. */
  *nodeFigures(): Generator<NodeFigures> {
    const now = this.#options.clock.now();
    for (const [nodeId, { value: record }] of this.state.nodes.entries()) {
      const beatAt = this.beats.lastBeatAt(nodeId);
      const beatAgeMs = beatAt === undefined ? undefined : Math.max(0, now - beatAt);
      yield { record, use: this.#ledger.use(nodeId), beatAgeMs };
    }
  }

  #buildNodeWriter(): NodeWriter {
    const { address, clock, revokeNode } = this.#options;
    return new NodeWriter({
      ...this.state,
      ownNodeId: address.nodeId,
      isConnected: (nodeId) => this.#hub.isConnected(nodeId),
      shutOut: async (nodeId, options) => {
        const token = await revokeNode?.(nodeId, options);
        this.#hub.disconnect(nodeId, 'the node was forgotten');
        return token;
      },
      clock,
    });
  }

  #buildHub(busyPorts: BusyPorts): Hub {
    const { templates, clock, logger, metrics, clusterName, address, issueInstanceToken } = this.#options;
    const { state } = this;
    return new Hub({
      clusterName,
      master: address,
      nodes: state.nodeRecords,
      sources: {
        ...state,
        templateDigest: (group, name, storage) => templates.digest(group, name, storage),
        templateNews: (group, name, storage) => templates.news(group, name, storage),
        issueInstanceToken,
      },
      intake: new StatusIntake({
        records: state.instanceRecords,
        metrics,
        logger,
        now: () => clock.now(),
        onBusyPort: (nodeId, port, protocol) => busyPorts.add(nodeId, port, protocol),
      }),
      beats: this.beats,
      services: templateServices(templates),
      logger,
      clock,
    });
  }

  /**
   * Sends every instance that uses the template to its node again. Wakes the instances that wait for a place or a
   * template.
   */
  #templateChanged(group: string, name: string): void {
    for (const id of this.state.instancesByTemplate.get(`${group}/${name}`)) this.#hub.touch(id);
    this.#controllers.templatesChanged();
  }
}
