/** The entry of a node in a shortlist: its rank in the order of choice, but no facts. */
import type { HeapItem } from '../../../src/loop/heap.js';
import type { PlacementOrder } from '../../../src/model/configuration.js';
import type { NodeRecord } from '../../../src/model/node.js';
import type { Candidate, Condition } from './conditions.js';

/**
 * An entry. It is changed in place, not copied, because each choice looks at a dozen nodes again. That makes
 * no garbage, and a large fleet stays in the processor's cache.
 */
export interface Entry extends HeapItem {
  readonly nodeId: string;
  node: NodeRecord;
  first: Rank['first'];
  second: Rank['second'];
  failed: Condition | undefined;
  isListed: boolean;
  /** True when the node has less free than its rank says. */
  isOutdated: boolean;
  /**
   * The node's facts from the moment when it was parked, because it had no free port; undefined: the node is
   * not parked.
   */
  parked: Candidate | undefined;
}

/** An entry whose rank is not known yet. */
export function newEntry(node: NodeRecord): Entry {
  const { nodeId } = node;
  return {
    nodeId,
    node,
    first: 0,
    second: 0,
    failed: undefined,
    isListed: false,
    isOutdated: false,
    parked: undefined,
    slot: -1,
  };
}

/** The rank of a node: nodes are compared by `first`, then by `second`, the smaller first, then by node id. */
export interface Rank {
  readonly first: number;
  readonly second: number;
  readonly nodeId: string;
}

/**
 * The rank of a node for an instance. `spread`: first the node with the fewest instances of the
 * configuration, then the one that keeps the largest share of RAM. `pack`: the node that keeps the smallest
 * share of RAM.
 */
export function rankOf(node: Candidate, ramMB: number, order: PlacementOrder = 'spread'): Rank {
  const { nodeId, siblings, freeRamMB, maxRamMB } = node;
  const share = maxRamMB === 0 ? 0 : (freeRamMB - ramMB) / maxRamMB;
  return order === 'pack' ? { first: share, second: 0, nodeId } : { first: siblings, second: -share, nodeId };
}

/** True when `a` comes before `b`. */
export function isBefore(a: Rank, b: Rank): boolean {
  if (a.first !== b.first) return a.first < b.first;
  return a.second === b.second ? a.nodeId < b.nodeId : a.second < b.second;
}
