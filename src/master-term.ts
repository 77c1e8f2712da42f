/**
 * The parts of a master that exist only while it leads: its channel to the nodes, its controllers, and their counts.
 * Each term builds them anew over the state, which goes on. After `stop` they decide and write nothing.
 */
import { setMaxListeners } from 'node:events';
import { EventRecorder } from '../controllers/master/events/recorder.js';
import { BusyPorts } from '../controllers/master/placement/busy-ports.js';
import { FleetChanges } from '../controllers/master/placement/fleet-changes.js';
import { PlacementLedger } from '../controllers/master/placement/ledger.js';
import type { ReconcilersOptions } from '../controllers/master/reconcilers.js';
import { buildMasterControllers, type MasterControllers } from '../controllers/master/register.js';
import type { BeatBook } from './channel/master/beat-book.js';
import { ExitIntake } from './channel/master/exit-intake.js';
import { Hub } from './channel/master/hub.js';
import { StatusIntake } from './channel/master/status-intake.js';
import type { UsageBook } from './channel/master/usage-book.js';
import type { MessageOf } from './channel/protocol/messages.js';
import type { InstanceStreams } from './channel/services/instance-streams.js';
import { type TreeServer, templateServices } from './channel/services/template-relay.js';
import { programServices } from './channel/services/usage-day.js';
import type { Leadership, Term } from './leadership/leadership.js';
import type { Configuration, ConfigurationRecord } from './model/configuration.js';
import type { NodeRecord } from './model/node.js';
import type { InstanceWriter } from './state/instance-writes.js';
import type { MasterState } from './state/master-state.js';
import type { Secrets } from './state/secrets.js';
import type { Ambient } from './telemetry/ambient.js';
import type { Metrics } from './telemetry/metrics.js';
import { chooseTemplates } from './templates/library/choose.js';
import type { StoredGroup } from './templates/storage/storage-groups.js';

/** The templates that a master gives out: `TemplateSources`, or a fake. */
export interface TemplateSource extends TreeServer {
  groups(): ReadonlyMap<string, readonly string[]>;
  /** Keys of the storages that configurations may name, without `local`. */
  storages(): readonly string[];
  /** The templates of a group in these storages. Absent: none. */
  storedGroup?(group: string): StoredGroup;
  digest(group: string, name: string, storage: string): Promise<string | null>;
  /** Why `digest` may soon return a newer digest, as text for a person; undefined: no check is under way. */
  news(group: string, name: string, storage: string): string | undefined;
  onChange(listener: (group: string, name: string) => void): () => void;
}

/** The values that each term is made from. */
export interface TermOptions extends Ambient, Pick<ReconcilersOptions, 'readWebhooks' | 'send'> {
  readonly clusterName: string;
  readonly address: MessageOf<'welcome'>['master'];
  readonly leadership: Pick<Leadership, 'masters' | 'onChange'>;
  readonly nodeTimeoutMs: number;
  /** See `ReconcilersOptions`. */
  readonly isInForce?: (configuration: ConfigurationRecord) => Promise<boolean>;
  readonly templates: TemplateSource;
  readonly issueInstanceToken: (instanceId: string, createdAt: number) => string;
  readonly hostAddressOf: (configuration: Configuration, node: NodeRecord) => string;
  readonly metrics: Metrics;
  readonly random: () => number;
  /** Makes ids of instances. Default: random ones. */
  readonly newInstanceId?: () => string;
  /** Whether controllers look at everything again over time, in case a change did not wake them. Default true. */
  readonly isResynced?: boolean;
}

/** The parts that go on from term to term: the `Master`. */
interface Lasting {
  readonly state: MasterState;
  readonly writer: InstanceWriter;
  readonly secrets: Secrets;
  readonly beats: BeatBook;
  readonly usage: UsageBook;
  readonly holdings: Holdings;
  /** The last lines of the run that ended at this time; absent: of the last run that ended by itself. */
  readonly lastLinesOf: (id: string, at?: number) => Promise<readonly string[]>;
  readonly streams: Pick<InstanceStreams, 'writeStdin'>;
}

/**
 * The RAM, CPU and ports that instances hold on nodes. A follower counts them, too: counting 100,000 instances when its
 * term begins would block a new leader for a second.
 */
export class Holdings {
  readonly changes = new FleetChanges();
  readonly ledger: PlacementLedger;

  constructor(instances: MasterState['instances']) {
    this.ledger = new PlacementLedger(instances, this.changes);
  }
}

export class MasterTerm {
  readonly hub: Hub;
  readonly controllers: MasterControllers;
  readonly events: EventRecorder;
  readonly #options: TermOptions;
  readonly #lasting: Lasting;
  readonly #ending = new AbortController();
  readonly #isSole: boolean;
  #unsubscribe: (() => void)[] = [];

  constructor(options: TermOptions, lasting: Lasting, term: Pick<Term, 'epoch'>) {
    const { templates, clock } = options;
    this.#options = options;
    this.#lasting = lasting;
    // Only the terms of several masters are numbered.
    this.#isSole = term.epoch === 0;
    // Every part that follows the state in this term adds a listener, and Node would warn from the 11th on.
    setMaxListeners(0, this.#ending.signal);
    const { state, writer, beats, holdings } = lasting;
    const { changes, ledger } = holdings;
    const busyPorts = new BusyPorts(clock, changes);
    this.hub = this.#buildHub(busyPorts, term);
    const { logger } = options;
    this.events = new EventRecorder({ state, clock, logger, ending: this.#ending.signal });
    this.controllers = buildMasterControllers({
      ...options,
      state,
      writer,
      beats,
      ending: this.#ending.signal,
      placement: {
        ledger,
        busyPorts,
        changes,
        chooseTemplates: (configuration, id) =>
          chooseTemplates(configuration.templateInstallationConfig, id, {
            groups: templates.groups(),
            storages: templates.storages(),
            stored: (group) => templates.storedGroup?.(group),
          }),
        hostAddressOf: options.hostAddressOf,
      },
      lastLinesOf: lasting.lastLinesOf,
      sendLine: (record, line) => lasting.streams.writeStdin(record, Buffer.from(`${line}\n`)),
      templateDigest: (group, name, storage) => templates.digest(group, name, storage),
    });
  }

  /** Starts to follow the nodes, and lets them in. */
  start(): void {
    const { templates, leadership } = this.#options;
    this.events.start();
    this.#lasting.beats.start({ isSole: this.#isSole });
    this.hub.start();
    this.#unsubscribe = [
      templates.onChange((group, name) => this.#templateChanged(group, name)),
      this.#lasting.state.programSecrets.onChange((name) => {
        for (const id of this.#lasting.secrets.instancesWith(name)) this.hub.touch(id);
      }),
      leadership.onChange(() => this.hub.tellMasters()),
    ];
  }

  /** Resolves when nothing of the term is under way any more. Idempotent. */
  async stop(): Promise<void> {
    for (const unsubscribe of this.#unsubscribe) unsubscribe();
    await this.controllers.stop();
    await this.hub.stop();
    this.#lasting.beats.stop();
    await this.events.stop();
    this.#ending.abort();
  }

  #buildHub(busyPorts: BusyPorts, { epoch }: Pick<Term, 'epoch'>): Hub {
    const { templates, clock, logger, metrics, clusterName, address, issueInstanceToken, leadership } =
      this.#options;
    const { state, beats, usage, lastLinesOf } = this.#lasting;
    const now = (): number => clock.now();
    return new Hub({
      clusterName,
      master: address,
      nodes: state.nodeRecords,
      sources: {
        ...state,
        line: state.line,
        templateDigest: (group, name, storage) => templates.digest(group, name, storage),
        templateNews: (group, name, storage) => templates.news(group, name, storage),
        issueInstanceToken,
        secrets: this.#lasting.secrets,
      },
      intake: new StatusIntake({
        records: state.instanceRecords,
        revisions: state.revisions,
        exits: new ExitIntake({ ...state, lastLinesOf, metrics, now }),
        metrics,
        logger,
        now,
        onBusyPort: (nodeId, port, protocol) => busyPorts.add(nodeId, port, protocol),
      }),
      beats,
      usage,
      ...(epoch > 0 && { elected: { epoch, masters: () => leadership.masters() } }),
      services: {
        ...templateServices(templates),
        ...programServices({
          playersOf: (id) => state.instances.get(id)?.value.status.players ?? null,
          silenceOf: (id) => beats.silenceOfProgram(id),
        }),
      },
      logger,
      clock,
    });
  }

  /**
   * Sends every instance that uses the template to its node again. Wakes the instances that wait for a place or a
   * template.
   */
  #templateChanged(group: string, name: string): void {
    for (const id of this.#lasting.state.instancesByTemplate.get(`${group}/${name}`)) this.hub.touch(id);
    this.controllers.templatesChanged();
  }
}
