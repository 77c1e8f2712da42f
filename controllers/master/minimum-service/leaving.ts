/**
 * What becomes of the instances of a configuration that is gone: those whose own content says `"onDelete": "stop"` end.
 * The wish is read from the content that each has, which the store keeps as long as an instance has it. Pure.
 */
import type { Plan } from '../../../src/loop/reconciler.js';
import { mayBeUsed } from '../../../src/model/instance.js';
import type { CountedInstance } from './plan.js';
import { isWaitedFor, type Patience } from './surplus.js';

/** One that is to end. A static one that is stopped has ended. */
export interface LeavingInstance extends Pick<CountedInstance, 'id' | 'players'> {
  /** As `update` of its content says. */
  readonly patience: Patience;
}

export interface LeavingFacts {
  readonly name: string;
  readonly leaving: readonly LeavingInstance[];
}

/** Ends one, unless players have come meanwhile that are waited for. A static one is stopped, any other is removed. */
export interface LeavingStep {
  readonly do: 'leave';
  readonly name: string;
  readonly id: string;
  readonly evenUsed: boolean;
}

interface Leaving {
  readonly now: readonly LeavingInstance[];
  /** They have players, who are waited for. */
  readonly waiting: readonly LeavingInstance[];
}

export function leavingIn({ leaving }: LeavingFacts): Leaving {
  return {
    now: leaving.filter((one) => !isWaitedFor(one, one.patience)),
    waiting: leaving.filter((one) => isWaitedFor(one, one.patience)),
  };
}

export function planLeaving(facts: LeavingFacts): Plan<LeavingStep> {
  const { now, waiting } = leavingIn(facts);
  const steps = now.map(({ id, players }) => ({
    do: 'leave' as const,
    name: facts.name,
    id,
    evenUsed: mayBeUsed(players),
  }));
  const waits = waiting.flatMap(({ patience }) => patience.leftMs ?? []);
  return waits.length === 0 ? { steps } : { steps, recheckInMs: Math.min(...waits) };
}
