/** What the drain of one node is decided from, gathered by the reconciler. Durations are of that moment. */
import type { NodeCondition } from '../../../src/model/node.js';
import type { Drain } from '../../../src/model/node-drain.js';
import type { Moves } from '../replacement/facts.js';

/** The victims are the instances on the node; players are waited for until the deadline of the drain. */
export interface DrainFacts extends Moves {
  readonly nodeId: string;
  readonly condition: NodeCondition;
  readonly drain: Drain;
}
