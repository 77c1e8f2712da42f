/** What the drain of one node is decided from, gathered by the reconciler. Durations are of that moment. */
import type { InstanceState } from '../../../src/model/instance.js';
import type { NodeCondition } from '../../../src/model/node.js';
import type { Drain } from '../../../src/model/node-drain.js';

/** An instance that was made to take the place of another one. */
export interface Replacement {
  readonly id: string;
  readonly state: InstanceState;
  /** It is ONLINE, or did what there was to do and has finished. */
  readonly isUp: boolean;
  /** Why it is not up, as its status says; null: nothing is wrong. */
  readonly message: string | null;
  readonly players: number;
  /** Placement has looked at it: it has a node, or its message says why not. */
  readonly isJudged: boolean;
}

/** One instance on the node. */
export interface HeldInstance {
  readonly id: string;
  readonly configurationName: string;
  /** `run`: wanted. `ending`: not wanted, and its process or directory is still there. */
  readonly goal: 'run' | 'ending';
  readonly static: boolean;
  /** It is ONLINE or has players: somebody would miss it. */
  readonly isUp: boolean;
  readonly players: number;
  /** What was made to replace it and is wanted, on a node that is not lost. */
  readonly replacement: Replacement | undefined;
  /** It was itself made to replace one that still stands elsewhere. */
  readonly isSpare: boolean;
  readonly outlook: Outlook;
}

/** What would become of one more instance of the same configuration. */
export interface Outlook {
  /** Null: a node fits. Else why none does. */
  readonly obstacle: string | null;
  /** maximumServiceCount allows no further instance beside those that are wanted. */
  readonly isAtMaximum: boolean;
}

export interface DrainFacts {
  readonly nodeId: string;
  readonly condition: NodeCondition;
  /** Undefined: the node is not to be emptied (any more). */
  readonly drain: Drain | undefined;
  /** Until players are no longer waited for; 0: they are not. */
  readonly remainingMs: number;
  /** What is at rest is not among them. In order of age. */
  readonly instances: readonly HeldInstance[];
}
