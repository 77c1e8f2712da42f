/** What operations and routes change. Each of them records what is desired, or reaches one instance, template or key. */
import type { KeyWriter } from '../access/key-writer.js';
import type { SessionWriter } from '../access/session-writer.js';
import type { InstanceStreams } from '../channel/services/instance-streams.js';
import type { InstanceTerminals } from '../channel/services/instance-terminals.js';
import type { JoinTokens } from '../channel/trust/join-tokens.js';
import type { ConfigurationFiles } from '../configuration-files/configuration-files.js';
import type { InstanceWriter } from '../state/instance-writes.js';
import type { NodeWriter } from '../state/node-writes.js';
import type { RolloutWriter } from '../state/rollout-writes.js';
import type { LocalTemplates } from '../templates/library/local-templates.js';
import type { MasterTemplates } from '../templates/master-templates.js';
import type { SyncRun } from '../templates/sync/sync-run.js';

export interface Writes {
  readonly instanceWrites: Pick<
    InstanceWriter,
    | 'adopt'
    | 'create'
    | 'isAway'
    | 'remove'
    | 'reportState'
    | 'setLifecycle'
    | 'updateInPlace'
    | 'updateWhenEmpty'
  >;
  readonly nodeWrites: Pick<NodeWriter, 'cordon' | 'drain' | 'forget' | 'uncordon'>;
  readonly rolloutWrites: Pick<
    RolloutWriter,
    'pause' | 'promote' | 'restart' | 'resume' | 'retry' | 'rollback'
  >;
  readonly keyWrites: Pick<KeyWriter, 'create' | 'noteUse' | 'remove'>;
  readonly sessionWrites: Pick<SessionWriter, 'create' | 'noteUse' | 'remove'>;
  readonly joinTokens: Pick<JoinTokens, 'create' | 'list' | 'revoke'>;
  readonly configurationFiles: Pick<ConfigurationFiles, 'put' | 'reload' | 'remove'>;
  readonly templates: Pick<
    LocalTemplates,
    'createFile' | 'exportArchive' | 'importArchive' | 'removeFile' | 'replaceFile' | 'rescan'
  >;
  readonly templateSync: Pick<MasterTemplates, 'fromStorage' | 'latestSync'> & {
    toCluster(pattern: string): Promise<Pick<SyncRun, 'templates' | 'nodes'>>;
  };
  readonly streams: Pick<InstanceStreams, 'writeStdin'>;
  readonly terminals: Pick<InstanceTerminals, 'attach'>;
  /** Ends the daemon as SIGTERM does. Returns at once. */
  stopDaemon(): void;
}
