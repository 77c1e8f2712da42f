/**
 * Decides which instances of a configuration that is gone end: those whose own content says `"onDelete": "stop"`. The
 * store keeps that content as long as an instance has it. Pure.
 */
import type { Plan } from '../../../src/loop/reconciler.js';
import { mayBeUsed } from '../../../src/model/instance.js';
import type { CountedInstance } from './plan.js';
import { isWaitedFor, type Patience } from './surplus.js';

/** An instance that is to end. A static instance that is stopped has ended. */
export interface LeavingInstance extends Pick<CountedInstance, 'id' | 'players'> {
  /** The patience that `update` of the instance's content asks for. */
  readonly patience: Patience;
}

export interface LeavingFacts {
  readonly name: string;
  readonly leaving: readonly LeavingInstance[];
}

/**
 * Ends an instance, unless it has got players meanwhile for whom the controller waits. A static instance is stopped,
 * any other is removed.
 */
export interface LeavingStep {
  readonly do: 'leave';
  readonly name: string;
  readonly id: string;
  readonly evenUsed: boolean;
}

interface Leaving {
  readonly now: readonly LeavingInstance[];
  /** The instances that end only when their players have left. */
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
