/** What a shortlist keeps of a node: where it stands in the order of choice, and no facts. */
import type { HeapItem } from '../../../src/loop/heap.js';
import type { NodeRecord } from '../../../src/model/node.js';
import type { Candidate, Condition } from './conditions.js';
import type { Rank } from './order.js';

/**
 * Changed in place: each choice looks at a dozen nodes again, which then leaves no garbage, and a large fleet stays in
 * the processor's cache.
 */
export interface Entry extends HeapItem {
  readonly nodeId: string;
  node: NodeRecord;
  first: Rank['first'];
  second: Rank['second'];
  failed: Condition | undefined;
  isListed: boolean;
  /** Less is free there than its rank says. */
  isOutdated: boolean;
  /** The candidate as it was when it was parked, because no port was free; undefined: the node is not parked. */
  parked: Candidate | undefined;
}

/** Its rank is still to be found. */
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
