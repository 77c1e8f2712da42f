/** Stored records as the master writes them, for tests that need a few. */
import { type Configuration, configurationSchema } from '../../../src/model/configuration.js';
import {
  type InstancePlacement,
  type InstanceRecord,
  type InstanceStatus,
  type StoredStatus,
  statusOf,
} from '../../../src/model/instance.js';
import type { NodeRecord } from '../../../src/model/node.js';
import { NO_COUNTS, type RolloutRecord } from '../../../src/model/rollout.js';

export function configurationOf(name: string, command = 'run'): Configuration {
  return configurationSchema.parse({ name, runtime: 'process', command });
}

export function placedOn(nodeId: string, port: number | null = null): InstancePlacement {
  return { nodeId, port, hostAddress: '10.0.0.1', templates: [] };
}

/** A status with other fields, as a reader of the record has it. */
export function withStatus(status: InstanceStatus, fields: Partial<StoredStatus>): InstanceStatus {
  return statusOf({ ...status, ...fields });
}

/** The record of an instance that is to run and is not placed. */
export function instanceRecord(id: string, fields: Partial<InstanceRecord> = {}): InstanceRecord {
  return {
    id,
    configurationName: 'lobby',
    revision: 'f00',
    runtime: 'process',
    static: false,
    ramMB: 100,
    cpu: 10,
    createdAt: 1000,
    madeBy: 'client',
    desired: { goal: 'run', restartToken: 0 },
    placement: null,
    home: null,
    status: {
      state: 'CREATING',
      reason: null,
      message: null,
      pid: null,
      restarts: 0,
      exitCode: null,
      exitSignal: null,
      lastHeartbeat: 1000,
      players: null,
      maxPlayers: null,
      tps: null,
      hasBeenReady: true,
      gone: false,
    },
    ...fields,
  };
}

export function nodeRecord(nodeId: string, fields: Partial<NodeRecord> = {}): NodeRecord {
  return {
    nodeId,
    address: '10.0.0.1',
    master: false,
    capacity: { maxRamMB: 1000, maxCpu: 1000 },
    runtimes: [{ key: 'process', available: true, version: '1', reason: null }],
    cordoned: false,
    condition: 'connected',
    conditionSince: 0,
    version: '0.0.0',
    ...fields,
  };
}

/** The record of a rollout that is going on. */
export function rolloutRecord(fields: Partial<RolloutRecord> = {}): RolloutRecord {
  return {
    name: 'lobby',
    from: 'old',
    to: 'new',
    generation: 0,
    state: 'rolling',
    cause: 'content',
    reason: null,
    message: null,
    by: null,
    since: 0,
    endedAt: null,
    progressAt: 0,
    isPromoted: true,
    paused: null,
    counts: NO_COUNTS,
    templates: {},
    ...fields,
  };
}
