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
import { requestFetch } from './channel/services/template-relay.js';
import type { Peer } from './channel/trust/members.js';
import { NOT_IN_GIT } from './configuration-files/git-directory.js';
import { Explainer, type FileReports } from './explain/explainer.js';
import type { Term } from './leadership/leadership.js';
import type { Part } from './loop/lifecycle.js';
import { Holdings, MasterTerm, type TermOptions } from './master-term.js';
import { DroverError, invalidNodeConfiguration } from './model/errors.js';
import type { NewEvent } from './model/event.js';
import type { Sealing } from './model/fields/secret.js';
import { MOST_EXIT_LINES } from './model/plain/command-limits.js';
import type { InstanceUsage } from './model/run/instance-usage.js';
import { minimumAt } from './model/schedule.js';
import type { TreeResult } from './model/template.js';
import { InstanceWriter } from './state/instance-writes.js';
import { MasterState } from './state/master-state.js';
import { NodeWriter, type ShutOutOptions } from './state/node-writes.js';
import { RolloutWriter } from './state/rollout-writes.js';
import { Secrets } from './state/secrets.js';
import type { Store } from './store/store.js';
import type { NodeFigures } from './telemetry/gauges.js';
import type { MetricSources } from './telemetry/metrics.js';

/** The files for an explainer that is asked about instances only. */
const NO_FILES: FileReports = {
  inGit: async () => NOT_IN_GIT,
  place: () => ({ nodeId: '' }),
  errors: () => [],
  warnings: () => [],
};
const withoutKey = (): Promise<Sealing> =>
  Promise.reject(invalidNodeConfiguration('this master has no key for secrets'));
const NOTHING_USED = { ramMB: 0, cpu: 0, instances: 0 };

export interface MasterOptions extends TermOptions {
  readonly store: Store;
  /** The seal of secrets. Absent: this master keeps no secrets. */
  readonly sealing?: () => Promise<Sealing>;
  /** Revokes a node's credential when the node is forgotten. Absent: nodes have none. */
  readonly revokeNode?: (nodeId: string, options: ShutOutOptions) => Promise<string | undefined>;
}

export class Master implements Part {
  readonly state: MasterState;
  readonly beats: BeatBook;
  readonly writer: InstanceWriter;
  readonly nodeWriter: NodeWriter;
  readonly rolloutWriter: RolloutWriter;
  readonly secrets: Secrets;
  readonly streams: InstanceStreams;
  readonly terminals: InstanceTerminals;
  /** The use of all instances, as their nodes last measured. */
  readonly usage = new UsageBook();
  readonly holdings: Holdings;
  readonly #options: MasterOptions;
  #term: MasterTerm | undefined;

  constructor(options: MasterOptions) {
    const { store, clock, logger, sealing = withoutKey } = options;
    this.#options = options;
    this.state = new MasterState(store, logger);
    this.holdings = new Holdings(this.state.instances);
    this.beats = new BeatBook(clock);
    this.writer = new InstanceWriter({ ...this.state, clock, beats: this.beats });
    this.nodeWriter = this.#buildNodeWriter();
    this.rolloutWriter = new RolloutWriter({ ...this.state, clock });
    this.secrets = new Secrets({ ...this.state, sealing, clock, logger });
    this.streams = new InstanceStreams((nodeId) => this.callsOf(nodeId));
    this.terminals = new InstanceTerminals((nodeId) => this.callsOf(nodeId));
  }

  /** Loads the state, and follows it from then on. It decides nothing before `beginTerm`. */
  async start(): Promise<void> {
    await this.state.start();
  }

  /** The present term; undefined: this master does not lead. */
  get term(): MasterTerm | undefined {
    return this.#term;
  }

  /** The present term. Throws DRV_NOT_LEADER when this master does not lead. */
  led(): MasterTerm {
    if (this.#term !== undefined) return this.#term;
    throw new DroverError('DRV_NOT_LEADER', 'this master does not lead');
  }

  /**
   * Called when this master begins to lead, after its earlier term has ended. Lets nodes in. Decisions begin later,
   * when the configuration files are read and the controllers of the term start.
   */
  beginTerm(term: Pick<Term, 'epoch'>): void {
    this.#term = new MasterTerm(this.#options, this, term);
    this.#term.start();
  }

  /** Called when this master leads no more. Resolves when nothing of the term is under way. Idempotent. */
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
   * Takes a wrapper's connection. `peer` is the node that the cluster port identified; absent for the wrapper in this
   * process. While this master does not lead, it closes the connection at once.
   */
  accept(transport: Transport, peer?: Peer): void {
    if (this.#term === undefined) transport.close('this master does not lead');
    else this.#term.hub.accept(transport, peer);
  }

  /** Tells an event that no record shows. A master that does not lead tells none. */
  note(event: NewEvent | undefined): void {
    if (event !== undefined) this.#term?.events.note(event);
  }

  /** The calls of a connected node. Throws DRV_NODE_DISCONNECTED, and DRV_NOT_LEADER. */
  callsOf(nodeId: string): CallPeer {
    return this.led().hub.callsOf(nodeId);
  }

  /** The connected nodes, and the call that makes a node fetch trees before they are needed. */
  get prefetching(): {
    connected(): readonly string[];
    fetch(nodeId: string, digests: readonly string[], signal: AbortSignal): AsyncIterable<TreeResult>;
  } {
    return {
      connected: () => this.#term?.hub.connected() ?? [],
      fetch: (nodeId, digests, signal) => requestFetch(this.callsOf(nodeId), digests, signal),
    };
  }

  /** RAM and CPU of the instances that placement counts on a node. */
  usedOf(nodeId: string): typeof NOTHING_USED {
    return this.#term === undefined ? NOTHING_USED : this.holdings.ledger.use(nodeId);
  }

  /** The use of an instance, as its node last measured. Undefined: the node is away, or has not measured it yet. */
  usageOf(id: string): InstanceUsage | undefined {
    const nodeId = this.state.instances.get(id)?.value.placement?.nodeId;
    return nodeId === undefined ? undefined : this.usage.get(nodeId, id);
  }

  /**
   * The last lines of the run that ended at this time, or of the last one that ended by itself; empty when the node of the
   * instance does not tell.
   */
  readonly lastLinesOf = async (id: string, at?: number): Promise<readonly string[]> => {
    const asked = this.explainer(NO_FILES).runs(id, MOST_EXIT_LINES);
    const { runs } = await asked.catch(() => ({ runs: [] }));
    return runs.find((run) => (at === undefined ? !run.wasAsked : run.at === at))?.lastLines ?? [];
  };

  /** Explains instances, configurations and nodes. */
  explainer(files: FileReports): Explainer {
    const led = (): MasterTerm => this.led();
    return new Explainer({
      ...this.state,
      files,
      get decisions() {
        return led().controllers.decisions;
      },
      usedOf: (nodeId) => this.usedOf(nodeId),
      drainOf: (nodeId) => this.#term?.controllers.drains.progressOf(nodeId),
      askNode: async ({ nodeId, signal, ...question }) =>
        askForDescriptions(this.callsOf(nodeId), question, signal),
      clock: this.#options.clock,
    });
  }

  /** The figures of instances and services in `/metrics`. */
  metricSources(): Omit<MetricSources, 'configurationFileErrors' | 'health'> {
    const { configurations, rollouts, timetables, instanceStates } = this.state;
    const { clock } = this.#options;
    return {
      unreadableRecords: () => this.state.unreadableCounts(),
      *instances() {
        for (const { word: state, ...counted } of instanceStates.entries()) yield { state, ...counted };
      },
      *minimums() {
        for (const [name, { value }] of configurations.entries())
          yield { configuration: name, minimum: minimumAt(value.configuration, clock.now()) };
      },
      actualOf: (name) => this.#term?.controllers.minimumService.working(name) ?? 0,
      *rollouts() {
        for (const [, { value }] of rollouts.entries()) yield value;
      },
      *timetables() {
        for (const [name, { value }] of timetables.entries()) yield [name, value];
      },
      usages: () => this.usage.all(),
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
}
