/** What the API needs from the rest of the master: interfaces only, so that its tests can hand in small fakes. */
import type { ApiKeyRecord } from '../model/api-key.js';
import type { ConfigurationFileError, ConfigurationRecord } from '../model/configuration.js';
import type { InstanceRecord, InstanceState } from '../model/instance.js';
import type { NodeConfiguration, NodeRecord } from '../model/node.js';
import type { MirrorReader } from '../store/mirror.js';
import type { Logger } from '../telemetry/logger.js';
import type { Metrics } from '../telemetry/metrics.js';

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

/** Byte services on the node that holds the instance. Throw DRV_NODE_DISCONNECTED and the runtime's errors. */
export interface InstanceServices {
  /** The last `lines` lines, oldest first, raw (ANSI included); totalLines counts every line since the instance was made. */
  readLogs(record: InstanceRecord, lines: number): Promise<{ lines: string[]; totalLines: number }>;
  writeStdin(record: InstanceRecord, bytes: Buffer): Promise<void>;
}

/** Beats stay in memory; the API shows them as `lastHeartbeat` of what is ONLINE on the node. */
export interface BeatReader {
  /** Wall-clock Unix milliseconds of the last beat received, or undefined. */
  lastBeatAt(nodeId: string): number | undefined;
  /** Grows with every beat of any node: caches of encoded instances are valid while it stands. */
  readonly tick: number;
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
  readonly services: InstanceServices;
  readonly beats: BeatReader;
  /** Verifies an instance-scoped token; the instance id it belongs to, or undefined. */
  verifyInstanceToken(token: string): string | undefined;
  readonly metrics: Metrics;
  readonly logger: Logger;
}
