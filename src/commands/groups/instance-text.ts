/** Shows instances to people: as a row of a table, and one in full. */
import type { InstanceRecord } from '../../model/instance.js';
import type { InstanceUsage } from '../../model/instance-usage.js';
import { publicPid } from '../../model/run-identity.js';
import { countText, durationText } from '../../model/words.js';
import { detailsOf } from '../../operations/instance-details.js';
import { type CommandDependencies, fieldsOf } from '../context.js';
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

/** Sorts by configuration, then by creation. */
export function byConfiguration(a: InstanceRecord, b: InstanceRecord): number {
  if (a.configurationName !== b.configurationName) return a.configurationName < b.configurationName ? -1 : 1;
  return a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1);
}

/** The address that clients connect to; undefined without a port. */
export function addressOf({ placement }: InstanceRecord): string | undefined {
  if (placement === null || placement.port === null) return undefined;
  return `${placement.hostAddress}:${placement.port}`;
}

/** Everything worth knowing of one instance, one line for each field. */
export function describeInstance(record: InstanceRecord, dependencies: Known): Promise<string> {
  const { status, placement } = record;
  const { desired, usage, templates, isRevisionCurrent } = detailsOf(record, dependencies);
  return fieldsOf({
    id: record.id,
    configuration: record.configurationName,
    state: status.state,
    wanted: desired,
    reason: status.reason,
    message: status.message,
    warning: status.warning,
    node: placement?.nodeId ?? 'none yet',
    address: addressOf(record),
    runtime: record.runtime,
    pid: publicPid(status.pid),
    RAM: `${record.ramMB} MB`,
    CPU: `${record.cpu} (100 = one core)`,
    uses: usageText(usage),
    static: record.static ? 'yes' : undefined,
    age: durationText(dependencies.clock.now() - record.createdAt),
    restarts: status.restarts,
    'last exit': lastExitOf(record),
    templates: templates.map(({ group, name }) => `${group}/${name}`).join(', '),
    players: status.players === null ? undefined : `${status.players} of ${status.maxPlayers ?? '?'}`,
    tps: status.tps,
    revision: `${record.revision}${isRevisionCurrent === false ? ' (older than what is in force)' : ''}`,
  });
}

const BYTES_PER_MB = 1024 * 1024;

/** `45 MB of RAM, 12 % of a core, 34 s of CPU time since its start, 3 processes`; undefined: not measured. */
function usageText(usage: InstanceUsage | null): string | undefined {
  if (usage === null) return undefined;
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

function lastExitOf({ status }: InstanceRecord): string | undefined {
  if (status.exitSignal !== null) return status.exitSignal;
  return status.exitCode === null ? undefined : `code ${status.exitCode}`;
}
