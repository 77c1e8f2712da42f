/** Orders the nodes that fit an instance. The instance's home comes before every order: the plan sees to that. */
import type { PlacementOrder } from '../../../src/model/configuration.js';
import type { Candidate } from './conditions.js';

/** The rank of a node: nodes are compared by `first`, then by `second`, the smaller first, then by node id. */
export interface Rank {
  readonly first: number;
  readonly second: number;
  readonly nodeId: string;
}

/**
 * `spread`: the fewest instances of the configuration, then the largest share of RAM left with the new one. `pack`: the
 * smallest share of RAM left.
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
