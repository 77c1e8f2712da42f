/** What the API needs from the rest of the master: interfaces only, so that its tests can hand in small fakes. */
import type { Readable } from 'node:stream';
import type { InstanceStreams } from '../../channel/services/instance-streams.js';
import type { Explainer } from '../../explain/explanation.js';
import type { ApiKeyRecord, KeyScope } from '../../model/api-key.js';
import type { AuditTrail } from '../../model/audit.js';
import type { ConfigurationFileError, ConfigurationRecord } from '../../model/configuration.js';
import type { InstanceRecord, InstanceState } from '../../model/instance.js';
import type { InstanceUsage } from '../../model/instance-usage.js';
import type { NodeConfiguration, NodeRecord } from '../../model/node.js';
import type { DrainProgress } from '../../model/node-drain.js';
import type { ClusterSyncReport } from '../../model/template.js';
import type { MirrorReader } from '../../store/mirror.js';
import type { Logger } from '../../telemetry/logger.js';
import type { Metrics } from '../../telemetry/metrics.js';

export type LifecycleTarget = 'start' | 'stop' | 'restart';

/** Body of `PUT /instances/{id}/state` after validation. */
export interface StateReport {
  readonly state: InstanceState;
  /** Unix milliseconds; undefined: the time of the call. */
  readonly lastHeartbeat?: number | undefined;
  readonly players?: number | undefined;
  readonly maxPlayers?: number | undefined;
  readonly tps?: number | undefined;
}

/** Writes of desired state; each resolves when it is durable and the mirror shows it. */
export interface InstanceWrites {
  /** Creates the record and waits (250 ms at most) for its first placement pass. Throws DRV_CONFIGURATION_UNKNOWN. */
  create(configurationName: string): Promise<InstanceRecord>;
  /** Throws DRV_INSTANCE_UNKNOWN. */
  setLifecycle(id: string, target: LifecycleTarget): Promise<void>;
  /** Throws DRV_INSTANCE_UNKNOWN; never resurrects a deleted record. */
  reportState(id: string, report: StateReport): Promise<InstanceRecord>;
  /** Hides the record at once. Throws DRV_INSTANCE_UNKNOWN, also for one that is being removed. */
  remove(id: string): Promise<void>;
}

/** Desired configurations: the JSON file is written atomically, then the store. */
export interface ConfigurationWrites {
  /** Throws DRV_CONFIGURATION_INVALID naming field and fix. Returns the names of unknown fields (accepted). */
  put(name: string, input: unknown): Promise<{ unknownFields: readonly string[] }>;
  /** Throws DRV_CONFIGURATION_UNKNOWN. */
  remove(name: string): Promise<void>;
  errors(): readonly ConfigurationFileError[];
}

/** Beats stay in memory; the API shows them as `lastHeartbeat` of what is ONLINE on the node. */
export interface BeatReader {
  /** Wall-clock Unix milliseconds of the last beat received, or undefined. */
  lastBeatAt(nodeId: string): number | undefined;
  /** Grows with every beat of any node: caches of encoded instances are valid while it stands. */
  readonly tick: number;
}

/** A template on the master's disk, and what can be done to it. Names and paths are checked here, whatever the caller did. */
export interface TemplateAdmin {
  /** Groups and the names of their templates, both in order. */
  groups(): ReadonlyMap<string, readonly string[]>;
  /** `path` is relative to the node's root (`templates/<group>/<name>`): never a server path. */
  details(group: string, name: string): Promise<{ readonly path: string; readonly exists: boolean }>;
  /** Relative paths of all files, in order. Throws DRV_TEMPLATE_UNKNOWN. */
  listFiles(group: string, name: string): Promise<readonly string[]>;
  /** Throws DRV_TEMPLATE_FILE_UNKNOWN, DRV_PATH_UNSAFE. */
  openFile(
    group: string,
    name: string,
    path: string,
  ): Promise<{ readonly bytes: number; readonly content: Readable }>;
  /** Whole or not at all. Throws DRV_TEMPLATE_FILE_EXISTS, DRV_REQUEST_TOO_LARGE, DRV_PATH_UNSAFE. */
  createFile(
    group: string,
    name: string,
    path: string,
    content: Readable,
  ): Promise<{ readonly bytes: number }>;
  /** Whole or not at all. Throws DRV_TEMPLATE_FILE_UNKNOWN, DRV_REQUEST_TOO_LARGE, DRV_PATH_UNSAFE. */
  replaceFile(
    group: string,
    name: string,
    path: string,
    content: Readable,
  ): Promise<{ readonly bytes: number }>;
  /** Throws DRV_TEMPLATE_FILE_UNKNOWN, DRV_PATH_UNSAFE. */
  removeFile(group: string, name: string, path: string): Promise<void>;
  /** A zip, as it is made. Throws DRV_TEMPLATE_UNKNOWN. */
  exportArchive(group: string, name: string): Promise<Readable>;
  /** Checks every entry of a zip first, then moves the tree in whole. Throws DRV_ARCHIVE_INVALID, DRV_ARCHIVE_TOO_LARGE. */
  importArchive(
    group: string,
    name: string,
    content: Readable,
  ): Promise<{ readonly files: number; readonly bytes: number }>;
}

/** Downloads templates from storage providers, and tells nodes to fetch templates ahead of need. */
export interface TemplateSync {
  /** Replaces the local template with the provider's latest version. Throws DRV_STORAGE_UNKNOWN, DRV_STORAGE_FAILED. */
  fromStorage(
    group: string,
    name: string,
    storage: string,
  ): Promise<{ readonly files: number; readonly bytes: number; readonly digest: string }>;
  /** Has every connected node fetch all matching templates (`group/*`, `group/name`, `*`); does not wait for them. */
  toCluster(
    pattern: string,
  ): Promise<{ readonly templates: readonly string[]; readonly nodes: readonly string[] }>;
  /** How the latest of these stands; undefined: there was none since the master started. */
  latestSync(): ClusterSyncReport | undefined;
}

/** The command tree, as `/commands/execute` and `/console` use it. */
export interface CommandRunner {
  /** Runs one line; never throws. `write` gets everything that the command prints, as it comes. */
  run(line: string, session: CommandSession): Promise<{ readonly isOk: boolean }>;
}

export interface CommandSession {
  /** For the audit trail: label of the key, or `terminal`. */
  readonly actor: string;
  readonly address: string | null;
  readonly signal: AbortSignal;
  /** Columns of the reader's terminal, or undefined: do not cut. */
  readonly columns?: number | undefined;
  write(text: string): void;
}

/** API keys as commands and tests change them. */
export interface KeyWrites {
  /** The token is known here only. Throws DRV_KEY_EXISTS, DRV_REQUEST_INVALID. */
  create(label: string, scope: KeyScope): Promise<{ readonly token: string; readonly record: ApiKeyRecord }>;
  /** Throws DRV_KEY_UNKNOWN, and DRV_REQUEST_INVALID for the last ALL key. */
  remove(label: string): Promise<void>;
}

export interface ApiDependencies {
  readonly configuration: NodeConfiguration;
  readonly version: string;
  readonly instances: MirrorReader<InstanceRecord>;
  readonly configurations: MirrorReader<ConfigurationRecord>;
  readonly nodes: MirrorReader<NodeRecord>;
  readonly keys: MirrorReader<ApiKeyRecord>;
  /** True once every mirror is loaded and the configuration files have been read; until then the API answers 503. */
  isReady(): boolean;
  readonly instanceWrites: InstanceWrites;
  readonly configurationWrites: ConfigurationWrites;
  readonly streams: Pick<InstanceStreams, 'readLogs' | 'followLogs' | 'writeStdin'>;
  readonly templates: TemplateAdmin;
  readonly templateSync: TemplateSync;
  readonly beats: BeatReader;
  /** RAM in MB and CPU units that placement counts as given out on a node; zero for one that it does not know. */
  usedOf(nodeId: string): { readonly ramMB: number; readonly cpu: number };
  /** The sum of what the instances of a node use; undefined: nothing was measured there. */
  usageOfNode(nodeId: string): InstanceUsage | undefined;
  /** Undefined: the node is not being drained. */
  drainOf(nodeId: string): DrainProgress | undefined;
  readonly audit: AuditTrail;
  readonly commands: CommandRunner;
  readonly explainer: Explainer;
  /** Verifies an instance-scoped token; the instance id it belongs to, or undefined. */
  verifyInstanceToken(token: string): string | undefined;
  readonly metrics: Metrics;
  readonly logger: Logger;
}
