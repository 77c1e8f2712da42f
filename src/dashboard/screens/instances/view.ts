/** The settings of the table, as the address has them. */
import type { InstanceInfo } from '../../../model/instance.js';
import type { Order } from '../../live/ordered-list.js';
import { addressOf } from '../../parts/amounts.js';
import {
  type ColumnId,
  DEFAULT_COLUMNS,
  isColumn,
  PHONE_COLUMNS,
  SORTS,
} from '../../parts/instances/columns.js';
import type { QueryChanges } from '../../router/place.js';

export const GROUPS = ['configuration', 'node', 'state'] as const;
type GroupBy = (typeof GROUPS)[number];

export interface InstancesView {
  readonly find: string;
  readonly state: InstanceInfo['state'] | '';
  readonly groupBy: GroupBy | '';
  readonly sort: ColumnId;
  readonly isDescending: boolean;
  readonly columns: readonly ColumnId[];
  readonly isDense: boolean;
}

export const STATES: readonly InstanceInfo['state'][] = ['ONLINE', 'CREATING', 'OFFLINE', 'STOPPED'];
const DEFAULT_SORT: ColumnId = 'state';

/** Reads the settings. An unknown word in the address counts as not set. */
export function readView(query: Readonly<Record<string, string>>, isPhone: boolean): InstancesView {
  const { find = '', state, group, sort = '', columns, rows } = query;
  const name = sort.replace(/^-/, '');
  return {
    find,
    state: STATES.find((one) => one === state) ?? '',
    groupBy: GROUPS.find((one) => one === group) ?? '',
    sort: isColumn(name) ? name : DEFAULT_SORT,
    isDescending: sort.startsWith('-'),
    isDense: rows === 'compact',
    columns:
      columns === undefined
        ? isPhone
          ? PHONE_COLUMNS
          : DEFAULT_COLUMNS
        : columns.split('.').filter(isColumn),
  };
}

/** Returns the query that sorts by this column, or that reverses the order when the table is already sorted by it. */
export function sortQuery(view: InstancesView, column: ColumnId): QueryChanges {
  return { sort: view.sort === column && !view.isDescending ? `-${column}` : column };
}

export function columnsQuery({ columns }: InstancesView, column: ColumnId): QueryChanges {
  const next = columns.includes(column) ? columns.filter((one) => one !== column) : [...columns, column];
  return { columns: next.join('.') };
}

export function orderOf(view: InstancesView): Order<InstanceInfo> {
  const words = view.find
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '');
  return {
    includes: (instance) =>
      (view.state === '' || instance.state === view.state) && words.every((word) => isFound(instance, word)),
    groupOf: view.groupBy === '' ? null : groupNames[view.groupBy],
    sortBy: SORTS[view.sort],
    isDescending: view.isDescending,
  };
}

const groupNames: Readonly<Record<GroupBy, (instance: InstanceInfo) => string>> = {
  configuration: ({ configurationName }) => configurationName,
  node: ({ wrapperNodeId = '–' }) => wrapperNodeId,
  state: ({ state }) => state,
};

function isFound(instance: InstanceInfo, word: string): boolean {
  const { id, configurationName, wrapperNodeId = '', message } = instance;
  return [id, configurationName, wrapperNodeId, addressOf(instance), message ?? ''].some((part) =>
    part.toLowerCase().includes(word),
  );
}
