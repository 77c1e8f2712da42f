/** Facts for `why` in which nothing is wrong; each test changes the part that it is about. */

import type { ContactView, PlacementView, ServiceView } from '../../../src/explain/decisions.js';
import type { FileReports } from '../../../src/explain/explainer.js';
import type { ConfigurationFacts, InstanceFacts } from '../../../src/explain/facts.js';
import type { ConfigurationRecord } from '../../../src/model/configuration.js';
import type { InstanceRecord } from '../../../src/model/instance.js';
import type { DescribedExit, InstanceDescription } from '../../../src/model/run/instance-description.js';
import { configurationOf, instanceRecord, nodeRecord, placedOn, withStatus } from './records.js';

export const ID = 'k3x9p2';
/** The wall clock of all facts. */
export const NOW = Date.UTC(2026, 0, 31, 12, 0, 41);

/** A record that is ONLINE on alpha, with port 30000 and pid 42. */
export function onlineRecord(fields: Partial<InstanceRecord> = {}): InstanceRecord {
  const record = instanceRecord(ID, { placement: placedOn('alpha', 30000), ...fields });
  return { ...record, status: withStatus(record.status, { state: 'ONLINE', pid: 42, ...fields.status }) };
}

/** The record of `onlineRecord`, with these fields of its status. */
export function recordWith(
  status: Partial<InstanceRecord['status']>,
  fields: Partial<InstanceRecord> = {},
): InstanceRecord {
  const record = onlineRecord(fields);
  return { ...record, status: withStatus(record.status, status) };
}

/** A description of an instance that is up for two hours and ten minutes. */
export function description(fields: Partial<InstanceDescription> = {}): InstanceDescription {
  return {
    goal: 'run',
    run: 1,
    pid: 42,
    upForMs: 7_800_000,
    restarts: 0,
    failuresInARow: 0,
    isStarting: false,
    isPrepared: false,
    hasRemains: false,
    left: [],
    isFinished: false,
    readiness: null,
    notAlive: null,
    stop: null,
    retryInMs: null,
    forgivenInMs: null,
    problem: null,
    runtimeProblem: null,
    exits: [],
    ...fields,
  };
}

/** A description of an instance that is not up. */
export function down(fields: Partial<InstanceDescription> = {}): InstanceDescription {
  return description({ pid: null, upForMs: null, isPrepared: true, ...fields });
}

export function pastExit(fields: Partial<DescribedExit> = {}): DescribedExit {
  return {
    run: 1,
    at: NOW - 3000,
    agoMs: 3000,
    code: 1,
    signal: null,
    wasAsked: false,
    lastLines: ['boom'],
    output: 'known',
    ...fields,
  };
}

export function placementView(fields: Partial<PlacementView> = {}): PlacementView {
  return {
    task: 'place',
    nodes: [],
    summary: '',
    isTooLarge: false,
    awaited: null,
    waits: [],
    templateProblems: [],
    ports: null,
    portHolders: [],
    portHoldersTotal: 0,
    ...fields,
  };
}

export function serviceView(fields: Partial<ServiceView> = {}): ServiceView {
  return {
    minimum: 1,
    maximum: null,
    counted: new Set([ID]),
    creating: 0,
    stopping: 0,
    surplus: { going: 0, waiting: 0 },
    nextCreationInMs: null,
    failedPasses: 0,
    ...fields,
  };
}

/** A master without files, in no work tree of git. */
export const NO_FILES: FileReports = {
  errors: () => [],
  warnings: () => [],
  inGit: async () => ({ standing: null, fault: null, files: new Map(), deleted: [] }),
  place: () => ({ nodeId: 'alpha' }),
};

export function contact(fields: Partial<ContactView> = {}): ContactView {
  return { isConnected: true, silentMs: 500, goneForMs: null, lostInMs: 5500, ...fields };
}

export function configurationRecord(fields: Partial<ConfigurationRecord> = {}): ConfigurationRecord {
  return {
    configuration: configurationOf('lobby'),
    sourceFile: 'lobby.json',
    sourceNode: 'alpha',
    hash: 'f00',
    ...fields,
  };
}

export function instanceFacts(fields: Partial<InstanceFacts> = {}): InstanceFacts {
  return {
    record: onlineRecord(),
    configuration: configurationRecord(),
    fileErrors: [],
    fileWarnings: [],
    placement: undefined,
    service: serviceView(),
    node: nodeRecord('alpha'),
    contact: contact(),
    answer: { kind: 'answered', description: description() },
    ...fields,
  };
}

export function configurationFacts(fields: Partial<ConfigurationFacts> = {}): ConfigurationFacts {
  return {
    name: 'lobby',
    record: configurationRecord(),
    git: undefined,
    unreadable: [],
    lastExits: [],
    rollout: undefined,
    schedules: [],
    frozen: undefined,
    fileErrors: [],
    fileWarnings: [],
    overrides: [],
    service: serviceView(),
    placement: placementView({
      nodes: [{ nodeId: 'alpha', fits: true, failed: null, message: 'fits: needs 100 MB of RAM' }],
    }),
    instances: [instanceFacts()],
    instancesTotal: 1,
    leaving: { going: 0, waiting: 0 },
    wanted: 1,
    online: 1,
    ...fields,
  };
}
