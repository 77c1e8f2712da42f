/**
 * Composition root of the master: its state over a store and a clock that are handed in, and while it leads its
 * controllers and its channel (`MasterTerm`). The same master runs in the daemon, in benchmarks and under a virtual
 * clock. Files, API and process are the daemon's.
 */

import { BeatBook } from './channel/master/beat-book.js';
import { UsageBook } from './channel/master/usage-book.js';
import type { CallPeer } from './channel/protocol/calls.js';
import type { Transport } from './channel/protocol/transport.js';
import { askForDescriptions } from './channel/services/instance-description.js';
import { InstanceStreams } from './channel/services/instance-streams.js';
import { InstanceTerminals } from './channel/services/instance-terminals.js';
import { askForLeftDirectories } from './channel/services/left-directories.js';
import { requestFetch } from './channel/services/template-relay.js';
import type { Peer } from './channel/trust/members.js';
import type { ServiceView } from './explain/decisions.js';
import { Explainer, type FileReports } from './explain/explainer.js';
import type { Term } from './leadership/leadership.js';
import type { Part } from './loop/lifecycle.js';
import { Holdings, MasterTerm, type TermOptions } from './master-term.js';
import { DroverError } from './model/errors.js';
import type { DrainProgress } from './model/node-drain.js';
import { type InstanceUsage, sumOfUsage } from './model/run/instance-usage.js';
import type { KeptDirectory } from './model/run/left-directory.js';
import type { TreeResult } from './model/template.js';
import type { Forecaster } from './operations/plan/forecast.js';
import type { Writes } from './operations/writes.js';
import { InstanceWriter } from './state/instance-writes.js';
import { MasterState } from './state/master-state.js';
import { NodeWriter, type ShutOutOptions } from './state/node-writes.js';
import { RolloutWriter } from './state/rollout-writes.js';
import type { Store } from './store/store.js';
import type { NodeFigures } from './telemetry/gauges.js';
import type { MetricSources } from './telemetry/metrics.js';

const NOTHING_USED = { ramMB: 0, cpu: 0, instances: 0 };

export interface MasterOptions extends TermOptions {
  readonly store: Store;
  /** Revokes a node's credential when the node is forgotten. Absent: nodes have none. */
  readonly revokeNode?: (nodeId: string, options: ShutOutOptions) => Promise<string | undefined>;
}

export class Master implements Part {
  readonly state: MasterState;
  readonly beats: BeatBook;
  readonly writer: InstanceWriter;
  readonly nodeWriter: NodeWriter;
  readonly rolloutWriter: RolloutWriter;
  readonly streams: InstanceStreams;
  readonly terminals: InstanceTerminals;
  readonly creations: Writes['creations'] = {
    create: (name) => this.#led().controllers.creations.create(name),
    adopt: (name, directory) => this.#led().controllers.creations.adopt(name, directory),
  };
  readonly updates: Writes['updates'] = {
    update: (id) => this.#led().controllers.updates.update(id),
    updateWhenEmpty: (id) => this.#led().controllers.updates.updateWhenEmpty(id),
  };
  readonly #options: MasterOptions;
  readonly #usage = new UsageBook();
  readonly #holdings: Holdings;
  /** Undefined: this master does not lead. */
  #term: MasterTerm | undefined;

  constructor(options: MasterOptions) {
    const { store, clock, logger } = options;
    this.#options = options;
    this.state = new MasterState(store, logger);
    this.#holdings = new Holdings(this.state.instances);
    this.beats = new BeatBook(clock);
    this.writer = new InstanceWriter({ ...this.state, clock });
    this.nodeWriter = this.#buildNodeWriter();
    this.rolloutWriter = new RolloutWriter({ ...this.state, clock });
    this.streams = new InstanceStreams((nodeId) => this.callsOf(nodeId));
    this.terminals = new InstanceTerminals((nodeId) => this.callsOf(nodeId));
  }

  /** Loads the state, and follows it from then on. It decides nothing before `beginTerm`. */
  async start(): Promise<void> {
    await this.state.start();
  }

  /** This master leads: nodes are let in. Decisions begin with `startControllers`. The term before has ended. */
  beginTerm(term: Pick<Term, 'epoch'>): void {
    const { state, writer, beats } = this;
    const lasting = {
      state,
      writer,
      beats,
      usage: this.#usage,
      holdings: this.#holdings,
    };
    this.#term = new MasterTerm(this.#options, lasting, term);
    this.#term.start();
  }

  /** Starts the controllers. The configuration files have been read by then. */
  async startControllers(): Promise<void> {
    await this.#led().controllers.start();
  }

  /** Stops the controllers. Channel and state stay, so that wrappers can still report. Idempotent. */
  async stopControllers(): Promise<void> {
    await this.#term?.controllers.stop();
  }

  /** This master leads no more. Resolves when nothing of the term is under way. Idempotent. */
  async endTerm(): Promise<void> {
    const term = this.#term;
    this.#term = undefined;
    await term?.stop();
  }

  async stop(): Promise<void> {
    await this.endTerm();
    await this.state.stop();
  }

  /**
   * Takes a wrapper's connection. `peer` is the node that the cluster port identified; absent for the wrapper in
   * this process. It is closed while this master does not lead.
   */
  accept(transport: Transport, peer?: Peer): void {
    if (this.#term !== undefined) {
      this.#term.hub.accept(transport, peer);
      return;
    }
    transport.close('this master does not lead');
  }

  /** The calls of a connected node. Throws DRV_NODE_DISCONNECTED, and DRV_NOT_LEADER. */
  callsOf(nodeId: string): CallPeer {
    return this.#led().hub.callsOf(nodeId);
  }

  /** Resolves when no controller has anything due or running. */
  async whenIdle(): Promise<void> {
    await this.#term?.controllers.whenIdle();
  }

  /** Looks at everything again now, as the resync does over time. */
  resyncNow(): void {
    this.#term?.controllers.resyncNow();
  }

  /** The connected nodes, and how to ask one to fetch trees ahead of need. */
  get prefetching(): {
    connected(): readonly string[];
    fetch(nodeId: string, digests: readonly string[], signal: AbortSignal): AsyncIterable<TreeResult>;
  } {
    return {
      connected: () => this.#term?.hub.connected() ?? [],
      fetch: (nodeId, digests, signal) => requestFetch(this.callsOf(nodeId), digests, signal),
    };
  }

  /**
   * The directories that static instances left on a node; with `id` only the directory of that instance. Throws
   * DRV_NODE_DISCONNECTED.
   */
  async leftOn(
    nodeId: string,
    id: string | undefined,
    signal: AbortSignal,
  ): Promise<readonly KeptDirectory[]> {
    return askForLeftDirectories(this.callsOf(nodeId), { id }, signal);
  }

  /** RAM and CPU of the instances that placement counts on a node. */
  usedOf(nodeId: string): typeof NOTHING_USED {
    return this.#term === undefined ? NOTHING_USED : this.#holdings.ledger.use(nodeId);
  }

  /** The use of an instance, as its node last measured. Undefined: the node is away, or has not measured it yet. */
  usageOf(id: string): InstanceUsage | undefined {
    const nodeId = this.state.instances.get(id)?.value.placement?.nodeId;
    return nodeId === undefined ? undefined : this.#usage.get(nodeId, id);
  }

  /** The use of all instances, as their nodes last measured. */
  get usages(): Pick<UsageBook, 'follow'> {
    return this.#usage;
  }

  /** The sum of what is used on a node; undefined: nothing was measured there. */
  usageOfNode(nodeId: string): InstanceUsage | undefined {
    return sumOfUsage(this.#usage.ofNode(nodeId));
  }

  /** How far the drain of a node has come; undefined: the node is not being drained. */
  drainOf(nodeId: string): DrainProgress | undefined {
    return this.#term?.controllers.drains.progressOf(nodeId);
  }

  /** The count of minimum-service for a configuration, and its next step; undefined: no such configuration. */
  serviceOf(configurationName: string): ServiceView | undefined {
    return this.#term?.controllers.decisions.serviceOf(configurationName);
  }

  /** The forecast for plans: how the controllers would treat contents that are not in force. */
  get forecaster(): Forecaster {
    return { forecast: (contents) => this.#led().controllers.forecaster.forecast(contents) };
  }

  /** Explains instances, configurations and nodes. */
  explainer(files: FileReports): Explainer {
    const led = (): MasterTerm => this.#led();
    return new Explainer({
      ...this.state,
      files,
      get decisions() {
        return led().controllers.decisions;
      },
      usedOf: (nodeId) => this.usedOf(nodeId),
      drainOf: (nodeId) => this.drainOf(nodeId),
      askNode: (question) => askForDescriptions((nodeId) => this.callsOf(nodeId), question),
      clock: this.#options.clock,
    });
  }

  /** The figures of instances and services in `/metrics`. */
  metricSources(): Omit<MetricSources, 'configurationFileErrors'> {
    const { configurations, rollouts, instanceStates } = this.state;
    const usage = this.#usage;
    return {
      unreadableRecords: () => this.state.unreadableCounts(),
      *instances() {
        for (const { word: state, ...counted } of instanceStates.entries()) yield { state, ...counted };
      },
      *minimums() {
        for (const [name, { value }] of configurations.entries())
          yield { configuration: name, minimum: value.configuration.minimumServiceCount };
      },
      actualOf: (name) => this.#term?.controllers.minimumService.actual(name) ?? 0,
      *rollouts() {
        for (const [, { value }] of rollouts.entries()) yield value;
      },
      usages: () => usage.all(),
    };
  }

  /** The figures of nodes in `/metrics`. */
  *nodeFigures(): Generator<NodeFigures> {
    const now = this.#options.clock.now();
    for (const [nodeId, { value: record }] of this.state.nodes.entries()) {
      const beatAt = this.beats.lastBeatAt(nodeId);
      const beatAgeMs = beatAt === undefined ? undefined : Math.max(0, now - beatAt);
      yield { record, use: this.usedOf(nodeId), beatAgeMs };
    }
  }

  #buildNodeWriter(): NodeWriter {
    const { address, clock, revokeNode } = this.#options;
    return new NodeWriter({
      ...this.state,
      ownNodeId: address.nodeId,
      isConnected: (nodeId) => this.#term?.hub.isConnected(nodeId) === true,
      shutOut: async (nodeId, options) => {
        const token = await revokeNode?.(nodeId, options);
        this.#term?.hub.disconnect(nodeId, 'the node was forgotten');
        return token;
      },
      clock,
    });
  }

  #led(): MasterTerm {
    if (this.#term !== undefined) return this.#term;
    throw new DroverError('DRV_NOT_LEADER', 'this master does not lead');
  }
}
