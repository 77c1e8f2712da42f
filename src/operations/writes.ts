/**
 * The changes that operations and routes ask of the master. Each one records a desired state, or reaches one instance,
 * template or key.
 */

import type { KeyWriter } from '../access/key-writer.js';
import type { SessionWriter } from '../access/session-writer.js';
import type { InstanceStreams } from '../channel/services/instance-streams.js';
import type { InstanceTerminals } from '../channel/services/instance-terminals.js';
import type { JoinTokens } from '../channel/trust/join-tokens.js';
import type { ConfigurationFiles } from '../configuration-files/configuration-files.js';
import type { JobOrder } from '../model/fields/job.js';
import type { InstanceRecord } from '../model/instance.js';
import type { InstanceWriter } from '../state/instance-writes.js';
import type { NodeWriter } from '../state/node-writes.js';
import type { RolloutWriter } from '../state/rollout-writes.js';
import type { Secrets } from '../state/secrets.js';
import type { LocalTemplates } from '../templates/library/local-templates.js';
import type { MasterTemplates } from '../templates/master-templates.js';
import type { SyncRun } from '../templates/sync/sync-run.js';
import type { Forecaster } from './plan/forecast.js';

/** The directory that a static instance left behind. */
export interface AdoptOptions {
  /** The name of the directory, which is the instance's id. */
  readonly id: string;
  /** The node that has the directory, and the port of the last run. */
  readonly home: NonNullable<InstanceRecord['home']>;
}

/**
 * The outcome of an update in place.
 *
 * - `restarted`: the node ends the instance and starts it with the new content.
 * - `taken`: the instance is not up, and its next start has the new content.
 * - `current`: the instance has that content now, without a restart.
 * - `not-due`: the caller does not want the update any more, or there is no such instance.
 */
export type UpdateOutcome = 'restarted' | 'taken' | 'current' | 'not-due';

/** The controllers of a term, as far as operations and routes ask them. */
interface Deciders {
  readonly creations: {
    /** Creates one instance, of a job a run, and waits (250 ms at most) for its first placement pass. */
    create(configurationName: string, order?: JobOrder): Promise<InstanceRecord>;
    /** Creates a static instance for the directory that an instance of the same id left on its node. */
    adopt(configurationName: string, options: AdoptOptions): Promise<InstanceRecord>;
  };
  readonly updates: {
    /** Gives an instance the content in force, in place. */
    update(id: string): Promise<UpdateOutcome>;
    /**
     * Updates an instance as soon as it has no players. Resolves with the hash of the content; undefined: it has that
     * content already.
     */
    updateWhenEmpty(id: string): Promise<string | undefined>;
  };
  readonly forecaster: Forecaster;
  /** Sends a notice of no event to the receiver of a webhook. */
  readonly notices: { test(name: string, by: string): Promise<void> };
}

export interface Writes {
  /** The deciding parts of this master's term. Throws DRV_NOT_LEADER where this master does not lead. */
  led(): Deciders;
  readonly instanceWrites: Pick<InstanceWriter, 'isAway' | 'remove' | 'reportState' | 'setLifecycle'>;
  readonly nodeWrites: Pick<NodeWriter, 'cordon' | 'drain' | 'forget' | 'uncordon'>;
  readonly rolloutWrites: Pick<
    RolloutWriter,
    'pause' | 'promote' | 'restart' | 'resume' | 'retry' | 'rollback'
  >;
  readonly secrets: Pick<Secrets, 'list' | 'remove' | 'set'>;
  readonly keyWrites: Pick<KeyWriter, 'create' | 'noteEnd' | 'noteUse' | 'remove'>;
  readonly sessionWrites: Pick<SessionWriter, 'create' | 'noteEnd' | 'noteUse' | 'remove'>;
  readonly joinTokens: Pick<JoinTokens, 'create' | 'list' | 'revoke'>;
  readonly configurationFiles: Pick<ConfigurationFiles, 'put' | 'reload' | 'remove' | 'reset' | 'write'>;
  readonly templates: Pick<
    LocalTemplates,
    'createFile' | 'exportArchive' | 'importArchive' | 'removeFile' | 'replaceFile'
  >;
  readonly templateSync: Pick<MasterTemplates, 'fromStorage' | 'latestSync'> & {
    toCluster(pattern: string): Promise<Pick<SyncRun, 'templates' | 'nodes'>>;
  };
  readonly streams: Pick<InstanceStreams, 'writeStdin' | 'sendSignal'>;
  readonly terminals: Pick<InstanceTerminals, 'attach'>;
  /** Ends the daemon as SIGTERM does. Returns at once. */
  stopDaemon(): void;
}
