/** The state of a node, the order of nodes, and the order of the instances on them. Pure. */
import type { InstanceInfo } from '../../../model/instance.js';
import type { Topics } from '../../../watch-client/topics.js';
import type { Group, Order, OrderedList } from '../../live/ordered-list.js';
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

function isSort(name: string): name is NodeSort {
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

/**
 * The order of all placed instances: by node, and there by configuration. Programs that have ended for good are left
 * out, because they hold nothing of their node.
 */
export const PLACED: Order<InstanceInfo> = {
  includes: ({ wrapperNodeId, state, reason }) =>
    wrapperNodeId !== undefined && !(state === 'STOPPED' && (reason === 'exited' || reason === 'timed-out')),
  groupOf: ({ wrapperNodeId = '' }) => wrapperNodeId,
  sortBy: ({ configurationName }) => configurationName,
  isDescending: false,
};

type Standing = keyof typeof text.standing;

/** Returns what keeps new instances off the node; null: the node takes instances. */
export function standingOf({ cordoned, drain }: NodeEntry): Standing | null {
  if (drain !== null) return drain.isDrained ? 'drained' : 'draining';
  return cordoned ? 'cordoned' : null;
}

/** The instances of one node, from `start` in the list. */
type Placed = Pick<Group, 'start' | 'count'>;

const NOTHING: Placed = { start: 0, count: 0 };

export class PlacedCells {
  readonly #list: OrderedList<InstanceInfo>;
  readonly #byNode: ReadonlyMap<string, Placed>;

  /** Counts the list as it is now, so make a new object for each render. */
  constructor(list: OrderedList<InstanceInfo>) {
    this.#list = list;
    this.#byNode = new Map(list.groups().map((group) => [group.name, group]));
  }

  get count(): number {
    return this.#list.count;
  }

  on(nodeId: string): Placed {
    return this.#byNode.get(nodeId) ?? NOTHING;
  }

  /** Returns `most` instances of a node, or all when there are fewer. */
  some(nodeId: string, most: number): InstanceInfo[] {
    const { start, count } = this.on(nodeId);
    const places = Array.from({ length: Math.min(count, most) }, (_, place) => this.#list.at(start + place));
    return places.flatMap((slot) => slot?.entry ?? []);
  }

  countOn(nodeId: string, configuration: string): number {
    const { start, count } = this.on(nodeId);
    let found = 0;
    for (let place = start; place < start + count; place++)
      if (this.#list.at(place)?.entry.configurationName === configuration) found++;
    return found;
  }

  /** How many instances a configuration has, and on how many nodes. */
  everywhere(configuration: string): { readonly instances: number; readonly nodes: number } {
    const counts = [...this.#byNode.keys()].map((nodeId) => this.countOn(nodeId, configuration));
    return {
      instances: counts.reduce((sum, count) => sum + count, 0),
      nodes: counts.filter((count) => count > 0).length,
    };
  }
}
