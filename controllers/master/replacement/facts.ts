/**
 * The facts from which replacing instances is decided, gathered by `victims.ts`. Durations count from the moment of
 * gathering.
 */
import type { InstanceState, Maker } from '../../../src/model/instance.js';

/** An instance that was made to take the place of another one. */
export interface Replacement {
  readonly id: string;
  readonly maker: Maker;
  readonly state: InstanceState;
  /** True when the replacement is ONLINE by a report of its node, or has finished. */
  readonly isUp: boolean;
  /** The message of the replacement's status, which says why it is not up; null: nothing is wrong. */
  readonly message: string | null;
  readonly players: number;
  /** True when placement has answered: the replacement has a node, or its message says why not. */
  readonly isAnswered: boolean;
}

/** An instance that has a replacement, or is to get one. */
export interface Original {
  readonly id: string;
  readonly maker: Maker;
  /** `run`: the original is wanted. `ending`: it is not wanted, but its process or directory is still there. */
  readonly goal: 'run' | 'ending';
  /**
   * True when somebody would notice the end of the instance: it is ONLINE, has players, or has finished its
   * work.
   */
  readonly isUp: boolean;
  readonly players: number;
  /** The replacement that is wanted and not on a lost node. */
  readonly replacement: Replacement | undefined;
}

/** An instance that a caller, such as a drain, wants moved away. */
export interface Victim extends Original {
  readonly configurationName: string;
  readonly static: boolean;
  /** The original that the victim itself replaces, while that original still stands elsewhere; else null. */
  readonly spareFor: string | null;
  readonly outlook: Outlook;
}

/** The outlook for one more instance of the same configuration: whether it can be made now. */
export interface Outlook {
  /**
   * Why no instance can be made: no node fits, it has to wait, or a static replacement is stopped. Null: nothing is in
   * the way.
   */
  readonly obstacle: string | null;
  /** The time until the obstacle may be gone without any event. Null: an event comes when it is gone. */
  readonly recheckInMs: number | null;
  /**
   * True when the creation is delayed because the last new instances failed young. Whether a node has room
   * was then not looked at.
   */
  readonly isDelayed: boolean;
  /** True when maximumServiceCount allows no further instance beside those that are wanted. */
  readonly isAtMaximum: boolean;
}

/** The victims of one caller. It moves them at one pace, under one deadline. */
export interface Moves {
  /** The victims in order of age, without instances at rest. */
  readonly victims: readonly Victim[];
  /** How long the caller still waits for players; 0: it waits no longer. */
  readonly remainingMs: number;
}

/** An original and all its replacements, as the replacement controller sees them. */
export interface FamilyFacts {
  /** The id of the original. Its record may be gone. */
  readonly id: string;
  /**
   * `gone`: not wanted, or on a lost node; its replacements stand for it. `away`: wanted, but without a node, or its
   * node is not connected or has not reported it. Otherwise the original as its node reported it.
   */
  readonly original: Original | 'gone' | 'away';
  /** The replacements that are wanted and not on a lost node, in order of age. */
  readonly replacements: readonly Replacement[];
  /**
   * True when a caller, such as a drain, still moves the original. While the original is there, that caller
   * resolves its pairs.
   */
  readonly isMoving: boolean;
}
