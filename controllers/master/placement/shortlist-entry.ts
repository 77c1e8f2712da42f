/** The entry of a node in a shortlist: its rank in the order of choice, but no facts. */
import type { HeapItem } from '../../../src/loop/heap.js';
import type { NodeRecord } from '../../../src/model/node.js';
import type { Candidate, Condition } from './conditions.js';
import type { Rank } from './order.js';

/**
 * Changed in place, not copied: each choice looks at a dozen nodes again. That makes no garbage, and a large fleet
 * stays in the processor's cache.
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
  /** The candidate at the moment when no port was free and it was parked; undefined: the node is not parked. */
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
