/**
 * The facts from which the drain of one node is decided, gathered by the reconciler. Durations count from that
 * moment.
 */
import type { NodeCondition } from '../../../src/model/node.js';
import type { Drain } from '../../../src/model/node-drain.js';
import type { Moves } from '../replacement/facts.js';

/** The victims are the instances on the node. The drain waits for their players until its deadline. */
export interface DrainFacts extends Moves {
  readonly nodeId: string;
  readonly condition: NodeCondition;
  readonly drain: Drain;
  /** Ids of instances on the node whose records are set aside: nothing can move them. */
  readonly setAside: readonly string[];
}
