/** What replacing instances is decided from, gathered by `victims.ts`. Durations are of that moment. */
import type { InstanceState } from '../../../src/model/instance.js';
import type { NodeCondition } from '../../../src/model/node.js';

/** An instance that was made to take the place of another one. */
export interface Replacement {
  readonly id: string;
  readonly state: InstanceState;
  /** It is ONLINE, or did what there was to do and has finished. */
  readonly isUp: boolean;
  /** Why it is not up, as its status says; null: nothing is wrong. */
  readonly message: string | null;
  readonly players: number;
  /** Placement has answered: it has a node, or its message says why not. */
  readonly isAnswered: boolean;
}

/** An instance that has a replacement, or is to get one. */
export interface Original {
  readonly id: string;
  /** `run`: wanted. `ending`: not wanted, and its process or directory is still there. */
  readonly goal: 'run' | 'ending';
  /** It is ONLINE or has players: somebody would miss it. */
  readonly isUp: boolean;
  readonly players: number;
  /** Wanted, and not on a lost node. */
  readonly replacement: Replacement | undefined;
}

/** An instance that a caller, such as a drain, wants to be rid of. */
export interface Victim extends Original {
  readonly configurationName: string;
  readonly static: boolean;
  /** It was itself made to replace one that still stands elsewhere. */
  readonly isSpare: boolean;
  readonly outlook: Outlook;
}

/** What would become of one more instance of the same configuration. */
export interface Outlook {
  /** Null: a node fits. Else why none does. */
  readonly obstacle: string | null;
  /** The obstacle may go after this time, and nothing tells of it; null: whatever removes it tells of it. */
  readonly recheckInMs: number | null;
  /** maximumServiceCount allows no further instance beside those that are wanted. */
  readonly isAtMaximum: boolean;
}

/** What a caller wants moved: it paces them together, and they share one deadline. */
export interface Moves {
  /** What is at rest is not among them. In order of age. */
  readonly victims: readonly Victim[];
  /** Until players are no longer waited for; 0: they are not. */
  readonly remainingMs: number;
}

/** An original and its replacement, as the replacement controller sees them. */
export interface PairFacts {
  readonly original: Original;
  /** A caller still wants the original gone: the pair is that caller's. */
  readonly isMoving: boolean;
  /** Of the node that holds the original. */
  readonly condition: NodeCondition;
}
