/**
 * Entries of the change stream for tests of the dashboard. Everything is well in them, unless a test says otherwise.
 */
import type { InstanceInfo } from '../../../src/model/instance.js';
import type { Topics } from '../../../src/watch-client/topics.js';

export function anInstance(fields: Partial<InstanceInfo> = {}): InstanceInfo {
  return {
    id: 'a1f1so',
    configurationName: 'lobby',
    configurationRevision: 'r1',
    outdated: false,
    createdAt: 1_000,
    state: 'ONLINE',
    reason: null,
    message: null,
    warning: null,
    wrapperNodeId: 'node-a',
    hostAddress: '10.0.0.1',
    allocatedPort: 8080,
    allocatedRamMB: 512,
    allocatedCpu: 100,
    runtime: 'process',
    processPid: 100,
    restarts: 0,
    exitCode: null,
    exitSignal: null,
    lastHeartbeat: 1_000,
    players: null,
    maxPlayers: null,
    tps: null,
    ...fields,
  };
}

export function aNode(fields: Partial<Topics['nodes']> = {}): Topics['nodes'] {
  return {
    nodeId: 'node-a',
    address: '10.0.0.1',
    advisoryLimits: null,
    capacity: { maxCpu: 400, maxRamMB: 4096 },
    condition: 'connected',
    conditionSince: 1_000,
    cordoned: false,
    drain: null,
    master: true,
    resources: { usedCpu: 100, usedRamMB: 512 },
    runtimes: [],
    version: '0.1.0',
    ...fields,
  };
}
