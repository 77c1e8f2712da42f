/** The questions of operations and routes to the master. Asking changes nothing. */

import type { BeatBook } from '../channel/master/beat-book.js';
import type { UsageBook } from '../channel/master/usage-book.js';
import type { AuditOfMasters } from '../channel/masters/audit-of-masters.js';
import type { InstanceStreams } from '../channel/services/instance-streams.js';
import type { ApiCertificate } from '../channel/trust/api-certificate.js';
import type { ConfigurationFiles } from '../configuration-files/configuration-files.js';
import type { ServiceView } from '../explain/decisions.js';
import type { Explainer } from '../explain/explainer.js';
import type { ExtensionRegistry } from '../extensions/registry.js';
import type { Leadership } from '../leadership/leadership.js';
import type { Clock } from '../loop/clock.js';
import type { ApiKeyRecord } from '../model/access/api-key.js';
import type { SessionRecord } from '../model/access/session.js';
import type { AuditTrail } from '../model/audit.js';
import type { Configuration, ConfigurationRecord } from '../model/configuration.js';
import type { ConfigurationHistory } from '../model/configuration-history.js';
import type { ConfigurationOverrides } from '../model/configuration-overrides.js';
import type { EventRecord } from '../model/event.js';
import type { ExitRecord } from '../model/exit-record.js';
import type { InstanceRecord } from '../model/instance.js';
import type { InstanceWord } from '../model/instance-word.js';
import type { NodeConfiguration, NodeRecord } from '../model/node.js';
import type { DrainProgress } from '../model/node-drain.js';
import type { RolloutRecord } from '../model/rollout.js';
import type { InstanceUsage } from '../model/run/instance-usage.js';
import type { KeptDirectory } from '../model/run/left-directory.js';
import type { UsageQuestion, UsageSeries } from '../model/run/usage-series.js';
import type { Timetable } from '../model/schedule.js';
import type { ShownWebhook } from '../model/webhook.js';
import type { InstanceCounts } from '../state/instance-counts.js';
import type { UnreadableRecord } from '../state/master-state.js';
import type { LookupReader } from '../store/lookup.js';
import type { MirrorReader } from '../store/mirror.js';
import type { RecordSet } from '../store/modify.js';
import type { LocalTemplates } from '../templates/library/local-templates.js';

export interface Reads {
  readonly configuration: NodeConfiguration;
  readonly version: string;
  readonly clock: Clock;
  readonly leadership: Pick<Leadership, 'leader' | 'masters'>;
  readonly instances: MirrorReader<InstanceRecord>;
  readonly configurations: MirrorReader<ConfigurationRecord>;
  /** The contents that instances were made from, by hash. */
  readonly revisions: Pick<MirrorReader<Configuration>, 'get'>;
  /** How many instances have each content, by hash. */
  readonly instanceRevisions: Pick<InstanceCounts<string>, 'of'>;
  readonly instanceWords: Pick<InstanceCounts<InstanceWord>, 'of' | 'entries'>;
  readonly instancesByConfiguration: Pick<LookupReader<string>, 'get'>;
  readonly histories: Pick<MirrorReader<ConfigurationHistory>, 'get'>;
  /** The changes of callers to configurations whose files Drover does not write. */
  readonly overrides: MirrorReader<ConfigurationOverrides>;
  readonly rollouts: MirrorReader<RolloutRecord>;
  readonly timetableRecords: RecordSet<Timetable>;
  readonly events: MirrorReader<EventRecord>;
  readonly exits: MirrorReader<ExitRecord>;
  /** The webhooks, where this master leads. */
  readonly webhooks: () => readonly ShownWebhook[];
  readonly nodes: MirrorReader<NodeRecord>;
  readonly keys: MirrorReader<ApiKeyRecord>;
  readonly sessions: MirrorReader<SessionRecord>;
  readonly configurationFiles: Pick<
    ConfigurationFiles,
    | 'conflicts'
    | 'errors'
    | 'inGit'
    | 'inspect'
    | 'isOffCommit'
    | 'onLook'
    | 'ownErrors'
    | 'place'
    | 'readings'
    | 'textOfBroken'
    | 'waiting'
    | 'warnings'
  >;
  readonly templates: Pick<LocalTemplates, 'details' | 'library' | 'listFiles' | 'openFile'>;
  /** See `TemplateSources.known`. */
  templateDigest(group: string, name: string, storage: string): Promise<string | null>;
  readonly extensions: Pick<ExtensionRegistry, 'commands' | 'list'>;
  readonly explainer: Explainer;
  readonly audit: AuditTrail;
  /** The audit trails of all masters. Absent: this is the only master. */
  readonly auditOfMasters?: AuditOfMasters;
  readonly streams: Pick<
    InstanceStreams,
    'followLogs' | 'readLogRange' | 'readLogTimes' | 'readLogs' | 'searchLog'
  >;
  readonly beats: Pick<BeatBook, 'lastBeatAt' | 'tick'>;
  readonly usages: Pick<UsageBook, 'follow'>;
  /** The certificate of the API; undefined: the API has no TLS. */
  readonly apiCertificate: ApiCertificate | undefined;
  /** The RAM and CPU that placement has given out on a node. */
  usedOf(nodeId: string): { readonly ramMB: number; readonly cpu: number };
  /** The present usage of an instance; undefined: its node is away, or has not measured it yet. */
  usageOf(id: string): InstanceUsage | undefined;
  /** The sum of the usage of a node's instances; undefined: the node has measured nothing. */
  usageOfNode(nodeId: string): InstanceUsage | undefined;
  /** Asks a node for the usage of the last day. Throws errors whose text an operator may read. */
  usageOver(nodeId: string, question: UsageQuestion, signal: AbortSignal): Promise<readonly UsageSeries[]>;
  /** The progress of a node's drain; undefined: the node is not being drained. */
  drainOf(nodeId: string): DrainProgress | undefined;
  /** The present counts of minimum-service; undefined: there is no such configuration. */
  serviceOf(configurationName: string): ServiceView | undefined;
  /**
   * Asks a node for the directories that static instances left there; with `id` for that directory alone. Throws errors
   * whose text an operator may read.
   */
  leftOn(nodeId: string, id: string | undefined, signal: AbortSignal): Promise<readonly KeptDirectory[]>;
  /** The stored records that are set aside. */
  unreadable(): Iterable<UnreadableRecord>;
}
