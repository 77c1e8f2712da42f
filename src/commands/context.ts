/** What one run of a command works with: the parts of the master, and where it prints. */
import type { InstanceStreams } from '../channel/services/instance-streams.js';
import type { ConfigurationFiles } from '../configuration-files/configuration-files.js';
import type { Explainer } from '../explain/explanation.js';
import type { ExtensionRegistry } from '../extensions/registry.js';
import type { Clock } from '../loop/clock.js';
import type { ApiKeyRecord } from '../model/access/api-key.js';
import type { AuditTrail } from '../model/audit.js';
import type { ConfigurationRecord } from '../model/configuration.js';
import type { InstanceRecord } from '../model/instance.js';
import type { NodeRecord } from '../model/node.js';
import type { KeyNeeds } from '../operations/api-keys.js';
import type { ClusterStatusNeeds } from '../operations/cluster-status.js';
import type { ConfigurationDiffNeeds } from '../operations/configuration-diff.js';
import type { ConfigurationReloadNeeds } from '../operations/configuration-reload.js';
import type { ConfigurationScaleNeeds } from '../operations/configuration-scale.js';
import type { InstanceDetailsNeeds } from '../operations/instance-details.js';
import type { InstanceLifecycleNeeds } from '../operations/instance-lifecycle.js';
import type { InstanceLogNeeds } from '../operations/instance-log.js';
import type { InstanceUpdateNeeds } from '../operations/instance-update.js';
import type { JoinTokenNeeds } from '../operations/join-tokens.js';
import type { LeftDirectoryNeeds } from '../operations/left-directories.js';
import type { NodeOperationNeeds } from '../operations/node-operations.js';
import type { ConfigurationRollbackNeeds } from '../operations/rollouts/configuration-rollback.js';
import type { SessionNeeds } from '../operations/sessions.js';
import type { InstanceWriter } from '../state/instance-writes.js';
import type { MirrorReader } from '../store/mirror.js';
import type { Logger } from '../telemetry/logger.js';
import type { LocalTemplates } from '../templates/library/local-templates.js';
import type { MasterTemplates } from '../templates/master-templates.js';
import type { CommandOutput } from './output.js';

type Records<T> = Pick<MirrorReader<T>, 'get' | 'entries' | 'setAside'>;

/** What the commands need of the master, the needs of their operations included. */
export type CommandDependencies = ClusterStatusNeeds &
  ConfigurationDiffNeeds &
  ConfigurationReloadNeeds &
  ConfigurationRollbackNeeds &
  ConfigurationScaleNeeds &
  InstanceDetailsNeeds &
  InstanceLifecycleNeeds &
  InstanceUpdateNeeds &
  JoinTokenNeeds &
  KeyNeeds &
  LeftDirectoryNeeds &
  NodeOperationNeeds &
  SessionNeeds & {
    readonly version: string;
    readonly instances: Records<InstanceRecord>;
    readonly configurations: Records<ConfigurationRecord>;
    readonly nodes: Records<NodeRecord>;
    readonly keys: Records<ApiKeyRecord>;
    readonly configurationFiles: Pick<ConfigurationFiles, 'remove'>;
    readonly instanceWrites: InstanceLifecycleNeeds['instanceWrites'] &
      InstanceUpdateNeeds['instanceWrites'] &
      LeftDirectoryNeeds['instanceWrites'] &
      Pick<InstanceWriter, 'create'>;
    readonly streams: InstanceLogNeeds['streams'] & Pick<InstanceStreams, 'writeStdin'>;
    readonly templates: Pick<LocalTemplates, 'groups' | 'rescan'>;
    readonly templateSync: Pick<MasterTemplates, 'fromStorage' | 'toCluster' | 'latestSync'>;
    readonly explainer: Explainer;
    readonly extensions: Pick<ExtensionRegistry, 'list' | 'commands'>;
    readonly audit: Pick<AuditTrail, 'record'>;
    readonly clock: Clock;
    readonly logger: Logger;
    /** Ends the daemon as SIGTERM does. Returns at once. */
    stopDaemon(): void;
  };

export interface CommandContext {
  readonly dependencies: CommandDependencies;
  readonly output: CommandOutput;
  /** The caller's name in the audit trail. */
  readonly actor: string;
  /** Aborts when the caller no longer waits for the command. */
  readonly signal: AbortSignal;
  /** Columns of the reader's terminal; undefined: tables are not cut. */
  readonly columns: number | undefined;
}
