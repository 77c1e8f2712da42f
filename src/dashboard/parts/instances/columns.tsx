/** The columns of the instances' table: what each shows, and how each sorts. */
import type { InstanceInfo } from '../../../model/instance.js';
import { countedDown } from '../../../model/plain/counted-down.js';
import { runFailure } from '../../../model/plain/run-failure.js';
import type { Topics } from '../../../watch-client/topics.js';
import { hrefOf } from '../../router/place.js';
import { useServices } from '../../services/services.js';
import { addressOf, BYTES_IN_MB, count, megabytes, NOTHING } from '../amounts.js';
import type { Column } from '../grid/grid.js';
import { Bar } from '../meter.js';
import type { PendingActions } from '../pending-actions.js';
import { InstanceBadge } from '../state-badge.js';
import { Time, Up } from '../time.js';
import { text } from './text.js';

export type ColumnId = keyof typeof text.label;

/** The column that is always shown, because it names the row. */
export const NAME_COLUMN: ColumnId = 'id';
export const DEFAULT_COLUMNS: readonly ColumnId[] = [
  'configuration',
  'state',
  'node',
  'address',
  'players',
  'up',
  'cpu',
  'ram',
  'restarts',
];

/** The columns on a phone, which has two lines for each instance. */
export const PHONE_COLUMNS: readonly ColumnId[] = ['configuration', 'state', 'node', 'address'];

/** The instances that are not well come first, then those that start, run and are stopped. */
const STATE_ORDER: Readonly<Record<InstanceInfo['state'], number>> = {
  OFFLINE: 0,
  CREATING: 2,
  ONLINE: 3,
  STOPPED: 4,
};

function rankOf(instance: InstanceInfo): number {
  const { state, message } = instance;
  if (runFailure(instance) !== undefined) return STATE_ORDER.OFFLINE;
  return state === 'CREATING' && message !== null ? 1 : STATE_ORDER[state];
}

export const SORTS: Readonly<Record<ColumnId, (instance: InstanceInfo) => string | number>> = {
  id: ({ id }) => id,
  configuration: ({ configurationName }) => configurationName,
  state: (instance) => `${rankOf(instance)} ${instance.configurationName}`,
  node: ({ wrapperNodeId = '' }) => wrapperNodeId,
  address: addressOf,
  players: ({ players }) => players ?? -1,
  up: ({ startedAt }) => -(startedAt ?? 0),
  cpu: ({ allocatedCpu }) => allocatedCpu,
  ram: ({ allocatedRamMB }) => allocatedRamMB,
  restarts: ({ restarts }) => restarts,
  created: ({ createdAt }) => createdAt,
};

export const COLUMN_IDS = Object.keys(SORTS).filter(isColumn);

export function isColumn(name: string): name is ColumnId {
  return Object.hasOwn(SORTS, name);
}

type InstanceColumn = Column<InstanceInfo> & { readonly id: ColumnId };

/** All columns, in the order of the table. `usage`: what each instance uses now. */
export function instanceColumns(
  pending: PendingActions,
  usage: ReadonlyMap<string, Topics['usage']>,
): readonly InstanceColumn[] {
  const column = (
    id: ColumnId,
    width: number,
    cell: InstanceColumn['cell'],
    rest: Partial<InstanceColumn> = {},
  ): InstanceColumn => ({ id, label: text.label[id], sortAs: id, width, cell, phone: 'second', ...rest });
  return [
    column('id', 96, ({ id }) => <span class="mono">{id}</span>, { phone: 'first' }),
    column('configuration', 140, ({ configurationName: name }) => <strong>{name}</strong>, {
      grow: 1,
      phone: 'first',
      linkOf: ({ configurationName }) => hrefOf(['configurations', configurationName]),
    }),
    column('state', 116, (instance) => <InstanceBadge instance={instance} pending={pending} />, {
      phone: 'end',
    }),
    column('node', 90, ({ wrapperNodeId }) => wrapperNodeId ?? <span class="quiet">{text.notPlaced}</span>, {
      grow: 0.6,
      linkOf: ({ wrapperNodeId }) => wrapperNodeId && hrefOf(['nodes', wrapperNodeId]),
    }),
    // An address without a port leads nowhere.
    column('address', 150, (one) => (one.allocatedPort === undefined ? NOTHING : addressOf(one)), {
      grow: 0.4,
    }),
    column('players', 84, playersOf, { isNumber: true }),
    column('up', 112, ({ startedAt }) => (startedAt === null ? NOTHING : <Up since={startedAt} />)),
    column('cpu', 108, ({ id, allocatedCpu, startedAt }) => {
      const percent = startedAt === null ? null : (usage.get(id)?.cpuPercent ?? null);
      const least = allocatedCpu || 100;
      return <Bar share={(percent ?? 0) / least} words={percent === null ? null : text.percent(percent)} />;
    }),
    column('ram', 116, ({ id, allocatedRamMB, startedAt }) => {
      const used = startedAt === null ? 0 : (usage.get(id)?.memoryBytes ?? 0) / BYTES_IN_MB;
      return <Bar share={used / allocatedRamMB} words={used === 0 ? null : megabytes(used)} />;
    }),
    column('restarts', 86, ({ restarts }) => (restarts === 0 ? NOTHING : count(restarts)), {
      isNumber: true,
    }),
    column('created', 120, ({ createdAt }) => <Time at={createdAt} />),
  ];
}

/** The message of an instance, with the time to its next start as it passes. */
export function Message({ instance }: { readonly instance: InstanceInfo }) {
  const { clock } = useServices();
  const { message, lastHeartbeat } = instance;
  // Only a message that counts down changes with the clock, and is drawn anew with it.
  const isStill = message === null || countedDown(message, Number.POSITIVE_INFINITY) === message;
  const shown = isStill ? messageOf(instance) : countedDown(message, clock.value - lastHeartbeat);
  return <span title={shown}>{shown}</span>;
}

export function messageOf({ message, warning, outdated }: InstanceInfo): string {
  return message ?? warning ?? (outdated ? text.outdated : '');
}

function playersOf({ players, maxPlayers }: InstanceInfo): string {
  if (players === null) return NOTHING;
  return maxPlayers === null ? count(players) : `${count(players)} / ${count(maxPlayers)}`;
}
