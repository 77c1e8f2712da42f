/**
 * The replacement controller's decision: what becomes of a pair whose move was called off. The unused one of the
 * two is removed. When both are used, the pair is dissolved and both stay.
 */
import type { Plan } from '../../../src/loop/reconciler.js';
import type { PairFacts } from './facts.js';
import type { RemoveStep } from './moves.js';

export type PairStep =
  | RemoveStep
  /** The instance replaces nothing any more; it is now one like others. */
  | { readonly do: 'release'; readonly id: string };

export function plan({ original, isMoving, condition }: PairFacts): Plan<PairStep> {
  const { id, goal, isUp, players, replacement } = original;
  if (replacement === undefined || isMoving || goal !== 'run') return { steps: [] };
  // The instances of a node that is away cannot be judged or stopped before it is back.
  if (condition !== 'connected') return { steps: [] };
  const other = replacement.id;
  const isBetter = !isUp && replacement.isUp;
  if (replacement.players === 0 && !isBetter)
    return { steps: [{ do: 'remove', id: other, staying: id, why: `${id} stays, its move was called off` }] };
  if (players === 0)
    return { steps: [{ do: 'remove', id, staying: other, why: `${other} has taken its place` }] };
  return { steps: [{ do: 'release', id: other }] };
}
