/**
 * The contract that every reconciler of master and wrapper keeps, and nothing else. The machinery that calls it is
 * in controller.ts; the decisions are in the plan.ts files under controllers/.
 */
import type { MaybePromise } from './maybe-promise.js';

export interface Plan<Step> {
  /** Performed in order. The first one that throws ends the round. */
  readonly steps: readonly Step[];
  /** Look again after this time even when nothing changes. */
  readonly recheckInMs?: number;
}

export interface Reconciler<Facts, Step> {
  /** Short stable name, used in metrics and logs, e.g. `placement`. */
  readonly name: string;

  /**
   * Collects what the plan needs to know about `key`; undefined: gone, nothing left to do. Answers without a
   * promise where everything is in memory: then no other round runs between observing and the first effect, so two
   * rounds never choose the same port.
   */
  observe(key: string, signal: AbortSignal): MaybePromise<Facts | undefined>;

  /** Pure: never logs, reads a clock, draws random numbers, or throws for an expected state. `now` is monotonic ms. */
  plan(facts: Facts, now: number): Plan<Step>;

  /**
   * Carries out one small, repeatable effect of a plan for `key`. Throws `Conflict` when the facts have changed since;
   * the key is then tried again shortly, which counts as no error.
   */
  perform(step: Step, signal: AbortSignal, key: string): MaybePromise<void>;
}

/** The facts changed between observe and perform. */
export class Conflict extends Error {
  override readonly name = 'Conflict';
}

/** How a round ended. */
export type Outcome = 'gone' | 'settled' | 'changed' | 'conflict' | 'failed' | 'aborted';
