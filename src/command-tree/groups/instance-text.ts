/**
 * Shows instances to people: as rows of a table, one instance in full, or the directories that removed ones left. A
 * master of another version may leave fields out.
 */

import type { InstanceDetails } from '../../api/routes/instances/instance-details.js';
import type { InstanceInfo } from '../../model/instance.js';
import { countedDown } from '../../model/plain/counted-down.js';
import { durationText } from '../../model/plain/duration-text.js';
import { hostPort } from '../../model/plain/host-port.js';
import { runFailure } from '../../model/plain/run-failure.js';
import type { LeftDirectories } from '../../model/run/left-directory.js';
import { countText } from '../../model/words.js';
import { fieldsOf, tableOf, type View } from '../command.js';
import type { Columns, Orders } from '../list.js';

const COMMON: Columns<InstanceInfo> = {
  ID: ({ id }) => id,
  CONFIGURATION: ({ configurationName }) => configurationName,
  STATE: (instance) => runFailure(instance)?.toUpperCase() ?? instance.state,
  NODE: ({ wrapperNodeId }) => wrapperNodeId,
  ADDRESS: addressOf,
  PID: ({ processPid }) => processPid,
  AGE: ageOf,
  RESTARTS: ({ restarts }) => restarts,
};
const MESSAGE: Columns<InstanceInfo> = {
  MESSAGE: (instance: Partial<InstanceInfo>, now) =>
    messageOf(instance, now) ?? (instance.warning && `warning: ${instance.warning}`),
};

export const INSTANCE_COLUMNS = { ...COMMON, ...MESSAGE };

export const WIDE_INSTANCE_COLUMNS: Columns<InstanceInfo> = {
  ...COMMON,
  RUNTIME: ({ runtime }) => runtime,
  RAM: ({ allocatedRamMB }) => `${allocatedRamMB} MB`,
  CPU: ({ allocatedCpu }) => allocatedCpu,
  REVISION: ({ configurationRevision }: Partial<InstanceInfo>) => configurationRevision?.slice(0, 8),
  REASON: ({ reason }) => reason,
  ...MESSAGE,
};

export const INSTANCE_ORDERS: Orders<InstanceInfo> = {
  'not-well': (instance) => {
    const { state, reason, warning } = instance;
    const isOver = state === 'STOPPED' && (reason === 'stopped' || reason === 'exited');
    const isRight = state === 'ONLINE' || (isOver && runFailure(instance) === undefined);
    return isRight ? (warning == null ? 2 : 1) : 0;
  },
  configuration: () => 0,
  node: ({ wrapperNodeId }) => wrapperNodeId ?? '',
  age: ({ createdAt }) => -createdAt,
  restarts: ({ restarts }) => -restarts,
  players: ({ players }) => -(players ?? -1),
};

/** The message, with the time to the next start as it is now. */
function messageOf({ message, lastHeartbeat }: Partial<InstanceInfo>, now: number): string | undefined {
  if (message == null || lastHeartbeat === undefined) return message ?? undefined;
  return countedDown(message, now - lastHeartbeat);
}

function ageOf({ createdAt }: Partial<InstanceInfo>, now: number): string | undefined {
  return createdAt === undefined ? undefined : durationText(now - createdAt);
}

/** Sorts by configuration, then by creation. */
export function byConfiguration(a: InstanceInfo, b: InstanceInfo): number {
  if (a.configurationName !== b.configurationName) return a.configurationName < b.configurationName ? -1 : 1;
  return a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1);
}

/** The address that clients connect to; undefined without a port. */
function addressOf({ hostAddress, allocatedPort }: InstanceInfo): string | undefined {
  return allocatedPort === undefined ? undefined : hostPort(hostAddress ?? '', allocatedPort);
}

/** `created ab12cd (lobby) on node n1, 10.0.0.1:25565`. */
export function sentenceOf(done: 'created' | 'adopted', instance: InstanceInfo): string {
  const { id, configurationName, wrapperNodeId, message } = instance;
  const made = `${done} ${id} (${configurationName})`;
  if (wrapperNodeId === undefined) return `${made}, waiting: ${message ?? 'not placed yet'}`;
  const address = addressOf(instance);
  return `${made} on node ${wrapperNodeId}${address === undefined ? '' : `, ${address}`}`;
}

/** The details of one instance, one line for each field. */
export function describeInstance(details: InstanceDetails, now: number): string {
  const { maxPlayers, isRevisionCurrent }: Partial<InstanceDetails> = details;
  const { configurationRevision: revision, players, templates, usage }: Partial<InstanceDetails> = details;
  return fieldsOf({
    id: details.id,
    configuration: details.configurationName,
    state: details.state,
    wanted: details.desired,
    reason: details.reason,
    message: messageOf(details, now),
    warning: details.warning,
    node: details.wrapperNodeId ?? 'none yet',
    address: addressOf(details),
    ports: details.ports,
    runtime: details.runtime,
    pid: details.processPid,
    RAM: `${details.allocatedRamMB} MB`,
    CPU: `${details.allocatedCpu} (100 = one core)`,
    uses: usageText(usage),
    static: details.static ? 'yes' : undefined,
    age: ageOf(details, now),
    restarts: details.restarts,
    'last exit': lastExitOf(details),
    templates: templates?.map((template) => versionText(template, now)).join(', '),
    players: players == null ? undefined : `${players} of ${maxPlayers ?? '?'}`,
    tps: details.tps,
    revision: revision && `${revision}${isRevisionCurrent === false ? ' (older than what is in force)' : ''}`,
  });
}

/** `lobby/paper (3f2a91c07be4, installed 5 min ago, older: the template has changed since)`. */
function versionText(template: InstanceDetails['templates'][number], now: number): string {
  const { group, name, digest, installedAt, isCurrent }: Partial<typeof template> = template;
  if (digest == null || installedAt == null) return `${group}/${name}`;
  const older = isCurrent === false ? ', older: the template has changed since' : '';
  return `${group}/${name} (${digest}, installed ${durationText(Math.max(0, now - installedAt))} ago${older})`;
}

const BYTES_PER_MB = 1024 * 1024;

/** `45 MB of RAM, 12 % of a core, 34 s of CPU time since its start, 3 processes`; undefined: no usage was measured. */
function usageText(usage: InstanceDetails['usage'] | undefined): string | undefined {
  if (usage == null) return undefined;
  const { cpuSeconds, cpuPercent, memoryBytes, processes } = usage;
  const share = cpuPercent === null ? '' : `${roundedPercent(cpuPercent)} % of a core, `;
  return [
    `${Math.round(memoryBytes / BYTES_PER_MB)} MB of RAM, ${share}${durationText(cpuSeconds * 1000)} of CPU time since its start`,
    countText(processes, 'process', 'processes'),
  ].join(', ');
}

function roundedPercent(percent: number): string {
  return percent < 10 ? percent.toFixed(1) : String(Math.round(percent));
}

function lastExitOf({ exitSignal, exitCode }: Partial<InstanceInfo>): string | undefined {
  if (exitSignal != null) return exitSignal;
  return exitCode == null ? undefined : `code ${exitCode}`;
}

const HEAD = ['DIRECTORY', 'NODE', 'CONFIGURATION', 'LEFT', 'SIZE'];
const MB = 1024 * 1024;

/** The left directories of one configuration; `configuration` undefined: all. */
export function leftOf(found: LeftDirectories, configuration: string | undefined): LeftDirectories {
  if (configuration === undefined) return found;
  const directories = found.directories.filter((one) => one.configurationName === configuration);
  return { ...found, directories };
}

/** The directories as a table; below it the nodes that did not answer. */
export function leftText({ directories, silent }: LeftDirectories, view: View): string {
  const rows = directories.map(({ id, nodeId, configurationName, leftAt, sizeBytes }) => [
    id,
    nodeId,
    configurationName ?? '-',
    leftAt === null ? '-' : `${durationText(view.now - leftAt)} ago`,
    sizeBytes === null ? '-' : sizeText(sizeBytes),
  ]);
  const none = 'no static instance that is gone has left a directory';
  const table = tableOf(view, HEAD, rows, none);
  const unknown = silent.map(({ nodeId, why }) => `what node ${nodeId} has is not known: ${why}`);
  return unknown.length === 0 ? table : [table, '', ...unknown].join('\n');
}

function sizeText(bytes: number): string {
  return bytes < MB ? `${Math.ceil(bytes / 1024)} KB` : `${Math.round(bytes / MB)} MB`;
}
