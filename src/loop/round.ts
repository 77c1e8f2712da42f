/**
 * One round of one key: observe, plan, perform. It returns its result and never throws; the controller decides what
 * follows.
 */
import { DroverError } from '../model/errors.js';
import type { Clock } from './clock.js';
import type { MaybePromise } from './maybe-promise.js';
import { Conflict, type Outcome, type Plan, type Reconciler } from './reconciler.js';
import type { Trace } from './trace.js';

export interface RoundEnd {
  readonly outcome: Outcome;
  readonly recheckInMs?: number | undefined;
  readonly error?: unknown;
}

export interface RoundContext<Facts, Step> {
  readonly reconciler: Reconciler<Facts, Step>;
  readonly clock: Clock;
  readonly trace: Trace;
  readonly signal: AbortSignal;
}

const GONE: RoundEnd = { outcome: 'gone' };
const ABORTED: RoundEnd = { outcome: 'aborted' };

export class Round<Facts, Step> {
  readonly #context: RoundContext<Facts, Step>;
  readonly #key: string;

  constructor(context: RoundContext<Facts, Step>, key: string) {
    this.#context = context;
    this.#key = key;
  }

  /**
   * Runs the round; `now`: monotonic ms. Returns a promise only when observing or a step does. Up to the first promise
   * everything happens in this call, so that no other round sees the world between observing and the first effect.
   */
  run(now: number): MaybePromise<RoundEnd> {
    try {
      const facts = this.#context.reconciler.observe(this.#key, this.#context.signal);
      return facts instanceof Promise ? this.#actLater(facts) : this.#act(facts, now);
    } catch (error) {
      return this.#broken(error);
    }
  }

  async #actLater(facts: Promise<Facts | undefined>): Promise<RoundEnd> {
    try {
      return await this.#act(await facts, this.#context.clock.monotonic());
    } catch (error) {
      return this.#broken(error);
    }
  }

  #act(facts: Facts | undefined, now: number): MaybePromise<RoundEnd> {
    const { reconciler, signal } = this.#context;
    if (signal.aborted) return ABORTED;
    if (facts === undefined) return GONE;
    const plan = reconciler.plan(facts, now);
    let started = 0;
    for (const step of plan.steps) {
      if (signal.aborted) return ABORTED;
      const done = reconciler.perform(step, signal, this.#key);
      started++;
      if (done instanceof Promise) return this.#performRest(plan, started, done);
      this.#traceStep(step);
    }
    return endOf(plan);
  }

  async #performRest(plan: Plan<Step>, started: number, current: Promise<void>): Promise<RoundEnd> {
    const { reconciler, signal } = this.#context;
    try {
      await current;
      for (const step of plan.steps.slice(started - 1, started)) this.#traceStep(step);
      for (const step of plan.steps.slice(started)) {
        if (signal.aborted) return ABORTED;
        await reconciler.perform(step, signal, this.#key);
        this.#traceStep(step);
      }
      return endOf(plan);
    } catch (error) {
      return this.#broken(error);
    }
  }

  #traceStep(step: Step): void {
    const { reconciler, trace } = this.#context;
    trace({ kind: 'step', controller: reconciler.name, key: this.#key, step });
  }

  /** The result of a round that threw. After an abort, every error counts as part of the abort. */
  #broken(error: unknown): RoundEnd {
    if (this.#context.signal.aborted) return { outcome: 'aborted', error };
    const isConflict = error instanceof Conflict || DroverError.is(error, 'DRV_STORE_CONFLICT');
    return { outcome: isConflict ? 'conflict' : 'failed', error };
  }
}

function endOf({ steps, recheckInMs }: Plan<unknown>): RoundEnd {
  return { outcome: steps.length === 0 ? 'settled' : 'changed', recheckInMs };
}
