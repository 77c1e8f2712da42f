/**
 * Which of the instances that wait for a place placement looks at now. Instances that ask the same and were told the
 * same form a group, and what its first one would be told now holds for all. So a change that makes nothing fit costs
 * the same however many wait.
 */
import type { Plan } from '../../../src/loop/reconciler.js';
import { mustWait, type PlacementFacts, plan as planPlacement } from '../placement/plan.js';

/** However much changes, the next look is so much later. */
const LOOK_EVERY_MS = 50;
/** Explanations are written anew at most every so many ms for each instance that waits, so that this stays a small share. */
const EXPLAIN_EVERY_MS = 1;

/** Instances that ask the same and were told the same. Never empty. */
export interface WaitingGroup {
  readonly size: number;
  /** The ids of so many of them at most. */
  readonly take: (most: number) => readonly string[];
  /** Placement's facts of the first one. */
  readonly first: PlacementFacts;
  /** How many of them fit at most. */
  readonly room: () => number;
}

export interface WaitingFacts {
  readonly groups: readonly WaitingGroup[];
  /** Since placement was last asked to look at some. */
  readonly lookedAgoMs: number;
  /** Since it was last asked to explain anew. */
  readonly explainedAgoMs: number;
}

export interface LookStep {
  readonly do: 'look';
  readonly ids: readonly string[];
  /** Their explanations are out of date; else a place may be free for them. */
  readonly isToExplain: boolean;
}

export function plan({ groups, lookedAgoMs, explainedAgoMs }: WaitingFacts): Plan<LookStep> {
  if (groups.length === 0) return { steps: [] };
  if (lookedAgoMs < LOOK_EVERY_MS) return { steps: [], recheckInMs: LOOK_EVERY_MS - lookedAgoMs };
  const waiting = groups.reduce((sum, { size }) => sum + size, 0);
  const explainInMs = waiting * EXPLAIN_EVERY_MS - explainedAgoMs;
  const fitting = groups.filter(mayFit);
  const others = groups.filter((group) => !mayFit(group) && !mustWait(group.first));
  const outdated = explainInMs > 0 ? [] : others.filter(isOutdated);
  const steps = [
    ...fitting.map(({ take, room }) => look(take(room()), false)),
    ...outdated.map(({ size, take }) => look(take(size), true)),
  ].filter(({ ids }) => ids.length > 0);
  return explainInMs > 0 && others.length > 0 ? { steps, recheckInMs: explainInMs } : { steps };
}

function mayFit({ first }: WaitingGroup): boolean {
  return first.choice !== undefined && first.templateProblems.length === 0 && !mustWait(first);
}

function isOutdated({ first }: WaitingGroup): boolean {
  return planPlacement(first).steps.length > 0;
}

function look(ids: readonly string[], isToExplain: boolean): LookStep {
  return { do: 'look', ids, isToExplain };
}
