/** The columns of the instances' table: what each shows, and how each sorts. */
import type { InstanceInfo } from '../../../model/instance.js';
import { addressOf, cores, count, megabytes, NOTHING } from '../../parts/amounts.js';
import type { Column } from '../../parts/grid/grid.js';
import type { PendingActions } from '../../parts/pending-actions.js';
import { InstanceBadge } from '../../parts/state-badge.js';
import { Time } from '../../parts/time.js';
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
  'created',
  'message',
];

/** The columns on a phone, which has two lines for each instance. */
export const PHONE_COLUMNS: readonly ColumnId[] = ['configuration', 'state', 'node', 'address'];

/** States that need attention come first. */
const STATE_ORDER: Readonly<Record<InstanceInfo['state'], number>> = {
  OFFLINE: 0,
  CREATING: 1,
  ONLINE: 2,
  STOPPED: 3,
};

export const SORTS: Readonly<Record<ColumnId, (instance: InstanceInfo) => string | number>> = {
  id: ({ id }) => id,
  configuration: ({ configurationName }) => configurationName,
  state: ({ state }) => STATE_ORDER[state],
  node: ({ wrapperNodeId = '' }) => wrapperNodeId,
  address: addressOf,
  players: ({ players }) => players ?? -1,
  ram: ({ allocatedRamMB }) => allocatedRamMB,
  cpu: ({ allocatedCpu }) => allocatedCpu,
  restarts: ({ restarts }) => restarts,
  created: ({ createdAt }) => createdAt,
  message: messageOf,
};

export const COLUMN_IDS = Object.keys(SORTS).filter(isColumn);

export function isColumn(name: string): name is ColumnId {
  return Object.hasOwn(SORTS, name);
}

/** All columns, in the order of the table. */
export function instanceColumns(
  pending: PendingActions,
): readonly (Column<InstanceInfo> & { readonly sortAs: ColumnId })[] {
  const column = (id: ColumnId, rest: Omit<Column<InstanceInfo>, 'label' | 'sortAs'>) => ({
    label: text.label[id],
    sortAs: id,
    ...rest,
  });
  return [
    column('id', { width: 110, phone: 'first', cell: ({ id }) => <span class="mono">{id}</span> }),
    column('configuration', {
      width: 140,
      grow: 1,
      phone: 'first',
      cell: ({ configurationName }) => configurationName,
    }),
    column('state', {
      width: 130,
      phone: 'end',
      cell: (instance) => <InstanceBadge instance={instance} pending={pending} />,
    }),
    column('node', {
      width: 110,
      grow: 0.7,
      phone: 'second',
      cell: ({ wrapperNodeId }) => wrapperNodeId ?? <span class="quiet">{text.notPlaced}</span>,
    }),
    column('address', {
      width: 170,
      phone: 'second',
      cell: (instance) => addressOf(instance) || NOTHING,
    }),
    column('players', { width: 90, isNumber: true, phone: 'second', cell: playersOf }),
    column('ram', {
      width: 90,
      isNumber: true,
      phone: 'second',
      cell: ({ allocatedRamMB }) => megabytes(allocatedRamMB),
    }),
    column('cpu', {
      width: 100,
      isNumber: true,
      phone: 'second',
      cell: ({ allocatedCpu }) => cores(allocatedCpu),
    }),
    column('restarts', {
      width: 90,
      isNumber: true,
      phone: 'second',
      cell: ({ restarts }) => count(restarts),
    }),
    column('created', { width: 120, phone: 'second', cell: ({ createdAt }) => <Time at={createdAt} /> }),
    column('message', {
      width: 160,
      grow: 1.6,
      phone: 'second',
      cell: (instance) => <span title={messageOf(instance)}>{messageOf(instance)}</span>,
    }),
  ];
}

function messageOf({ message, warning, outdated }: InstanceInfo): string {
  return message ?? warning ?? (outdated ? text.outdated : '');
}

function playersOf({ players, maxPlayers }: InstanceInfo): string {
  if (players === null) return NOTHING;
  return maxPlayers === null ? count(players) : `${count(players)} / ${count(maxPlayers)}`;
}
