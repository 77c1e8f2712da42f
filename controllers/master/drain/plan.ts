/**
 * The drain controller's decision: move everything on the node but static instances, and then call the drain done. It
 * also says how far a drain has come, for `cluster drain`, `cluster status`, the API and `why`.
 */
import type { Plan } from '../../../src/loop/reconciler.js';
import type { NodeCondition } from '../../../src/model/node.js';
import type { Drain, DrainProgress } from '../../../src/model/node-drain.js';
import type { Moves } from '../replacement/facts.js';
import { type MoveStep, planMoves } from '../replacement/moves.js';
import { lineOf, linesOf } from '../replacement/progress.js';
import { judgeAll, leftOf } from '../replacement/verdict.js';

export type DrainStep =
  | MoveStep
  | { readonly do: 'set-done'; readonly nodeId: string; readonly isDone: boolean };

export function plan(facts: DrainFacts): Plan<DrainStep> {
  const { nodeId, drain, condition, remainingMs } = facts;
  // Wait for the node: its instances cannot be judged or stopped while it is away.
  if (condition !== 'connected') return { steps: [] };
  const judged = judgeAll(facts);
  const moves = planMoves(judged, remainingMs);
  const isDone = leftOf(judged).length === 0;
  if (isDone === (drain.doneAt !== null)) return moves;
  return { ...moves, steps: [...moves.steps, { do: 'set-done', nodeId, isDone }] };
}

/**
 * The facts of the drain of one node. The victims are the instances on the node; the drain waits for their
 * players until its deadline.
 */
export interface DrainFacts extends Moves {
  readonly nodeId: string;
  readonly condition: NodeCondition;
  readonly drain: Drain;
  /** Ids of instances on the node whose records are set aside: nothing can move them. */
  readonly setAside: readonly string[];
}

export function progressOf(facts: DrainFacts): DrainProgress {
  const { drain, remainingMs, condition, setAside } = facts;
  const judged = judgeAll(facts);
  const left = leftOf(judged).length;
  return {
    since: drain.since,
    deadline: drain.deadline,
    remainingMs: Math.ceil(remainingMs),
    isDrained: left === 0,
    left,
    waitingFor: [
      ...(condition === 'connected' || left === 0 ? linesOf(judged, remainingMs) : [awayLine(facts)]),
      ...setAside.map((id) => `${id} stays: its record cannot be read, so nothing can move it`),
    ],
  };
}

/**
 * The meaning of the drain for one instance on the node, in words. Undefined: the instance is not on the
 * node, or it is at rest.
 */
export function moveOf(facts: DrainFacts, id: string): string | undefined {
  const judged = judgeAll(facts).find(({ victim }) => victim.id === id);
  if (judged === undefined) return undefined;
  return facts.condition === 'connected' ? lineOf(judged, facts.remainingMs) : awayLine(facts);
}

function awayLine({ nodeId, condition }: DrainFacts): string {
  return condition === 'lost'
    ? `${nodeId} is lost: its instances can only be stopped when it is back (or "cluster forget ${nodeId}")`
    : `${nodeId} was stopped and said that it will be back: then the drain goes on`;
}
