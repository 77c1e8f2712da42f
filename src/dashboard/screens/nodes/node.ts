/** The state of a node, the order of nodes, and the order of the instances on them. Pure. */
import type { InstanceInfo } from '../../../model/instance.js';
import type { Topics } from '../../../watch-client/topics.js';
import type { Order } from '../../live/ordered-list.js';
import { text } from './text.js';

export type NodeEntry = Topics['nodes'];
type NodeSort = keyof typeof text.sorts;

/** The settings of the list, as the address has them. */
export interface NodesView {
  readonly find: string;
  readonly sort: NodeSort;
  /** The configuration that is shown on all nodes; '': none. */
  readonly configuration: string;
}

/** Reads the settings. An unknown word in the address counts as not set. */
export function readView({ find = '', sort = '', configuration = '' }: Record<string, string>): NodesView {
  return { find, sort: isSort(sort) ? sort : 'name', configuration };
}

export function isSort(name: string): name is NodeSort {
  return Object.hasOwn(text.sorts, name);
}

const SORTS: Readonly<Record<NodeSort, (node: NodeEntry) => string | number>> = {
  name: ({ nodeId }) => nodeId,
  trouble: (node) => TROUBLE.findIndex((isSo) => isSo(node)),
  ram: ({ resources, capacity }) => -resources.usedRamMB / capacity.maxRamMB,
  cpu: ({ resources, capacity }) => -resources.usedCpu / capacity.maxCpu,
};

/** Tests for trouble, the worst first. */
const TROUBLE: readonly ((node: NodeEntry) => boolean)[] = [
  ({ condition }) => condition === 'lost',
  ({ condition }) => condition === 'returning',
  ({ drain }) => drain !== null && !drain.isDrained,
  ({ cordoned }) => cordoned,
  () => true,
];

export function nodeOrder({ find, sort }: NodesView): Order<NodeEntry> {
  const word = find.trim().toLowerCase();
  return {
    includes: ({ nodeId, address }) =>
      nodeId.toLowerCase().includes(word) || address.toLowerCase().includes(word),
    groupOf: null,
    sortBy: SORTS[sort],
    isDescending: false,
  };
}

/** The order of all placed instances: by node, and there by configuration. */
export const PLACED: Order<InstanceInfo> = {
  includes: ({ wrapperNodeId }) => wrapperNodeId !== undefined,
  groupOf: ({ wrapperNodeId = '' }) => wrapperNodeId,
  sortBy: ({ configurationName }) => configurationName,
  isDescending: false,
};

type Standing = keyof typeof text.standing;

/** Null: the node takes instances. */
export function standingOf({ cordoned, drain }: NodeEntry): Standing | null {
  if (drain !== null) return drain.isDrained ? 'drained' : 'draining';
  return cordoned ? 'cordoned' : null;
}
