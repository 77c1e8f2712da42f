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
import type { AuditTrail } from '../model/audit.js';
import type { NodeConfiguration } from '../model/node.js';
import type { DrainProgress } from '../model/node-drain.js';
import type { InstanceUsage } from '../model/run/instance-usage.js';
import type { KeptDirectory } from '../model/run/left-directory.js';
import type { UsageQuestion, UsageSeries } from '../model/run/usage-series.js';
import type { ShownWebhook } from '../model/webhook.js';
import type { StateRecords, UnreadableRecord } from '../state/master-state.js';
import type { LocalTemplates } from '../templates/library/local-templates.js';

export interface Reads
  extends Pick<
    StateRecords,
    | 'configurations'
    | 'events'
    | 'exits'
    | 'exitsByInstance'
    | 'instanceRevisions'
    | 'instances'
    | 'instancesByConfiguration'
    | 'instanceWords'
    | 'keys'
    | 'nodes'
    | 'overrides'
    | 'programSecrets'
    | 'revisions'
    | 'rollouts'
    | 'sessions'
    | 'timetableRecords'
  > {
  readonly histories: Pick<StateRecords['histories'], 'get'>;
  readonly configuration: NodeConfiguration;
  readonly version: string;
  readonly clock: Clock;
  readonly leadership: Pick<Leadership, 'leader' | 'masters'>;
  /** The webhooks, where this master leads. */
  readonly webhooks: () => readonly ShownWebhook[];
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
