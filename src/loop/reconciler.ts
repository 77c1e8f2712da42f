/**
 * The contract of every reconciler of master and wrapper, and nothing else. controller.ts calls it; the decisions are
 * in the plan.ts files under controllers/.
 */
import type { MaybePromise } from './maybe-promise.js';

export interface Plan<Step> {
  /** The steps, performed in order. A step that throws ends the round. */
  readonly steps: readonly Step[];
  /** The time after which the key is looked at again, even when nothing changes. */
  readonly recheckInMs?: number;
}

export interface Reconciler<Facts, Step> {
  /** A short stable name for metrics and logs, e.g. `placement`. */
  readonly name: string;

  /**
   * Collects the facts that the plan needs about `key`; undefined: the key is gone, nothing is left to do. Returns no
   * promise when everything is in memory. Then no other round runs between observing and the first effect, so that two
   * rounds never choose the same port.
   */
  observe(key: string, signal: AbortSignal): MaybePromise<Facts | undefined>;

  /** Pure: never logs, reads a clock, draws random numbers, or throws for an expected state. `now` is monotonic ms. */
  plan(facts: Facts, now: number): Plan<Step>;

  /**
   * Carries out one small, repeatable effect of a plan for `key`. Throws `Conflict` when the facts have changed since
   * the plan. Then the key is tried again shortly, and no error is counted.
   */
  perform(step: Step, signal: AbortSignal, key: string): MaybePromise<void>;
}

/** Thrown when the facts changed between observe and perform. */
export class Conflict extends Error {
  override readonly name = 'Conflict';
}

/** The result of a round. */
export type Outcome = 'gone' | 'settled' | 'changed' | 'conflict' | 'failed' | 'aborted';
