/** What the commands need from the rest of the master: interfaces only, so that tests can hand in small fakes. */
import type { InstanceStreams } from '../channel/services/instance-streams.js';
import type { Explainer } from '../explain/explanation.js';
import type { ExtensionCommand, ExtensionStatus } from '../extensions/extension.js';
import type { Clock } from '../loop/clock.js';
import type { ApiKeyRecord, KeyScope } from '../model/api-key.js';
import type { AuditTrail } from '../model/audit.js';
import type { JoinTokenRecord } from '../model/cluster.js';
import type { Configuration, ConfigurationFileError, ConfigurationRecord } from '../model/configuration.js';
import type { InstanceRecord } from '../model/instance.js';
import type { InstanceUsage } from '../model/instance-usage.js';
import type { NodeConfiguration, NodeRecord } from '../model/node.js';
import type { DrainProgress } from '../model/node-drain.js';
import type { ClusterSyncReport } from '../model/template.js';
import type { MirrorReader } from '../store/mirror.js';
import type { Logger } from '../telemetry/logger.js';

/** What commands read: a mirror. */
export type Records<T> = Pick<MirrorReader<T>, 'get' | 'entries' | 'size'>;

/** Writes of desired state; each resolves when it is durable and the mirror shows it. */
export interface InstanceCommands {
  /** Throws DRV_CONFIGURATION_UNKNOWN, and DRV_REQUEST_INVALID at the maximum. */
  create(configurationName: string): Promise<InstanceRecord>;
  setLifecycle(id: string, target: 'start' | 'stop' | 'restart'): Promise<void>;
  remove(id: string): Promise<void>;
}

/** What operators want of nodes; each resolves when it is durable and the mirror shows it. Throw DRV_NODE_UNKNOWN. */
export interface NodeCommands {
  cordon(nodeId: string): Promise<void>;
  uncordon(nodeId: string): Promise<void>;
  drain(nodeId: string, withinMs: number): Promise<void>;
  /** Throws DRV_NODE_IN_USE. */
  forget(
    nodeId: string,
    options: { readonly force: boolean },
  ): Promise<{ readonly instances: readonly string[]; readonly statics: readonly string[] }>;
}

/** What a configuration file says now. */
export type FileContent =
  | {
      readonly kind: 'valid';
      readonly parsed: { readonly configuration: Configuration; readonly hash: string };
    }
  | { readonly kind: 'broken'; readonly error: ConfigurationFileError };

export interface ConfigurationFileReader {
  /** Files that are not in force as they stand. */
  errors(): readonly ConfigurationFileError[];
  /** Reads everything again; resolves when what changed is in force and the mirrors show it. */
  reload(): Promise<void>;
  /** Reads one file without taking it; undefined: there is none. */
  inspect(file: string): Promise<FileContent | undefined>;
}

export interface TemplateCommands {
  groups(): ReadonlyMap<string, readonly string[]>;
  /** Throws DRV_STORAGE_UNKNOWN, DRV_STORAGE_FAILED. */
  fromStorage(
    group: string,
    name: string,
    storage: string,
  ): Promise<{ readonly files: number; readonly bytes: number; readonly digest: string }>;
  /** Does not wait for the nodes. */
  toCluster(pattern: string): Promise<{
    readonly templates: readonly string[];
    readonly nodes: readonly string[];
    readonly report: () => ClusterSyncReport;
    /** Calls `listener` whenever a node is through. Returns what unsubscribes. */
    readonly onProgress: (listener: () => void) => () => void;
  }>;
  latestSync(): ClusterSyncReport | undefined;
}

export interface KeyCommands {
  /** The token is known here only. Throws DRV_KEY_EXISTS, DRV_REQUEST_INVALID. */
  create(label: string, scope: KeyScope): Promise<{ readonly token: string; readonly record: ApiKeyRecord }>;
  /** Throws DRV_KEY_UNKNOWN, and DRV_REQUEST_INVALID for the last ALL key. */
  remove(label: string): Promise<void>;
}

/** The tokens with which nodes join. */
export interface JoinTokenCommands {
  /** The token is known here only. Throws DRV_REQUEST_INVALID. */
  create(token: {
    readonly label: string | null;
    /** Null: never. */
    readonly expiresInMs: number | null;
    /** Null: any number of nodes. */
    readonly maxUses: number | null;
  }): Promise<{ readonly token: string; readonly record: JoinTokenRecord }>;
  list(): Promise<readonly JoinTokenRecord[]>;
  /** Throws DRV_JOIN_TOKEN_UNKNOWN. */
  revoke(id: string): Promise<void>;
}

export interface ExtensionCommands {
  list(): readonly ExtensionStatus[];
  commands(): readonly ExtensionCommand[];
}

export interface CommandDependencies {
  readonly configuration: NodeConfiguration;
  readonly version: string;
  readonly instances: Records<InstanceRecord>;
  readonly configurations: Records<ConfigurationRecord>;
  /** Contents that instances were made from, by hash. */
  readonly revisions: Records<Configuration>;
  readonly nodes: Records<NodeRecord>;
  readonly keys: Records<ApiKeyRecord>;
  readonly instanceWrites: InstanceCommands;
  readonly nodeWrites: NodeCommands;
  readonly configurationFiles: ConfigurationFileReader;
  readonly streams: Pick<InstanceStreams, 'readLogs' | 'writeStdin'>;
  readonly templates: TemplateCommands;
  readonly keyWrites: KeyCommands;
  readonly joinTokens: JoinTokenCommands;
  readonly explainer: Explainer;
  readonly extensions: ExtensionCommands;
  readonly beats: { lastBeatAt(nodeId: string): number | undefined };
  /** What placement has given out on a node. */
  usedOf(nodeId: string): { readonly ramMB: number; readonly cpu: number };
  /** What an instance uses now; undefined: its node is away, or has not measured it yet. */
  usageOf(id: string): InstanceUsage | undefined;
  /** Undefined: the node is not being drained. */
  drainOf(nodeId: string): DrainProgress | undefined;
  readonly audit: Pick<AuditTrail, 'record'>;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Ends the daemon as SIGTERM does; returns at once. */
  stopDaemon(): void;
}
