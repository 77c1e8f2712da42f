/** The drain controller's decision: move everything on the node but static instances, and then call the drain done. */
import type { Plan } from '../../../src/loop/reconciler.js';
import { type MoveStep, planMoves } from '../replacement/moves.js';
import { judgeAll, leftOf } from '../replacement/verdict.js';
import type { DrainFacts } from './facts.js';

export type DrainStep =
  | MoveStep
  | { readonly do: 'set-done'; readonly nodeId: string; readonly isDone: boolean };

export function plan(facts: DrainFacts): Plan<DrainStep> {
  const { nodeId, drain, condition, remainingMs } = facts;
  // The instances of a node that is away cannot be judged or stopped before it is back.
  if (condition !== 'connected') return { steps: [] };
  const judged = judgeAll(facts);
  const moves = planMoves(judged, remainingMs);
  const isDone = leftOf(judged).length === 0;
  if (isDone === (drain.doneAt !== null)) return moves;
  return { ...moves, steps: [...moves.steps, { do: 'set-done', nodeId, isDone }] };
}
