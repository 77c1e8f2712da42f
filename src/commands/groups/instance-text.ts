/** Instances as commands show them: one in a table, one in full, and as the API has it for programs. */
import { type InstanceInfo, type InstanceRecord, toInstanceInfo } from '../../model/instance.js';
import type { InstanceUsage } from '../../model/instance-usage.js';
import { publicPid } from '../../model/run-identity.js';
import { durationText } from '../../model/words.js';
import { fieldsOf } from '../context.js';
import type { CommandDependencies } from '../dependencies.js';
import type { Cell } from '../table.js';

export const INSTANCE_HEAD = [
  'ID',
  'CONFIGURATION',
  'STATE',
  'NODE',
  'ADDRESS',
  'PID',
  'AGE',
  'RESTARTS',
  'MESSAGE',
];

type Known = Pick<CommandDependencies, 'beats' | 'clock' | 'configurations' | 'usageOf'>;

/** The flat view of the API. */
export function infoOf(record: InstanceRecord, { beats }: Pick<Known, 'beats'>): InstanceInfo {
  const { placement, status } = record;
  const isBeating = placement !== null && status.state === 'ONLINE';
  const beatAt = isBeating ? (beats.lastBeatAt(placement.nodeId) ?? 0) : 0;
  return toInstanceInfo(record, Math.max(status.lastHeartbeat, beatAt));
}

export function instanceRow(record: InstanceRecord, now: number): readonly Cell[] {
  const { id, configurationName, placement, status } = record;
  return [
    id,
    configurationName,
    status.state,
    placement?.nodeId,
    addressOf(record),
    publicPid(status.pid),
    durationText(now - record.createdAt),
    status.restarts,
    status.message,
  ];
}

/** By configuration, then the oldest first. */
export function byConfiguration(a: InstanceRecord, b: InstanceRecord): number {
  if (a.configurationName !== b.configurationName) return a.configurationName < b.configurationName ? -1 : 1;
  return a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1);
}

/** Where clients connect to; undefined without a port. */
export function addressOf({ placement }: InstanceRecord): string | undefined {
  if (placement === null || placement.port === null) return undefined;
  return `${placement.hostAddress}:${placement.port}`;
}

/** Everything worth knowing of one instance, a line each. */
export function describeInstance(
  record: InstanceRecord,
  { clock, configurations, usageOf }: Known,
): Promise<string> {
  const { status, placement, desired } = record;
  return fieldsOf({
    id: record.id,
    configuration: record.configurationName,
    state: status.state,
    wanted: desired.goal,
    reason: status.reason,
    message: status.message,
    node: placement?.nodeId ?? 'none yet',
    address: addressOf(record),
    runtime: record.runtime,
    pid: publicPid(status.pid),
    RAM: `${record.ramMB} MB`,
    CPU: `${record.cpu} (100 = one core)`,
    uses: usageText(usageOf(record.id)),
    static: record.static ? 'yes' : undefined,
    age: durationText(clock.now() - record.createdAt),
    restarts: status.restarts,
    'last exit': lastExitOf(record),
    templates: placement?.templates.map(({ group, name }) => `${group}/${name}`).join(', '),
    players: status.players === null ? undefined : `${status.players} of ${status.maxPlayers ?? '?'}`,
    tps: status.tps,
    revision: `${record.revision}${isOlder(record, configurations) ? ' (older than what is in force)' : ''}`,
  });
}

const BYTES_PER_MB = 1024 * 1024;

/** `45 MB of RAM, 12 % of a core, 34s of CPU time since its start, 3 processes`; undefined: it was not measured. */
function usageText(usage: InstanceUsage | undefined): string | undefined {
  if (usage === undefined) return undefined;
  const { cpuSeconds, cpuPercent, memoryBytes, processes } = usage;
  const share = cpuPercent === null ? '' : `${roundedPercent(cpuPercent)} % of a core, `;
  return [
    `${Math.round(memoryBytes / BYTES_PER_MB)} MB of RAM, ${share}${durationText(cpuSeconds * 1000)} of CPU time since its start`,
    `${processes} ${processes === 1 ? 'process' : 'processes'}`,
  ].join(', ');
}

function roundedPercent(percent: number): string {
  return percent < 10 ? percent.toFixed(1) : String(Math.round(percent));
}

function lastExitOf({ status }: InstanceRecord): string | undefined {
  if (status.exitSignal !== null) return status.exitSignal;
  return status.exitCode === null ? undefined : `code ${status.exitCode}`;
}

function isOlder(
  { configurationName, revision }: InstanceRecord,
  configurations: Known['configurations'],
): boolean {
  const current = configurations.get(configurationName)?.value.hash;
  return current !== undefined && current !== revision;
}
