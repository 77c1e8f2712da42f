/**
 * Chooses which of the instances that wait for a place placement looks at now. Instances with equal needs and equal
 * messages form a group, and one answer holds for the whole group. So a change after which nothing fits costs no more
 * when many instances wait.
 */
import type { Plan } from '../../../src/loop/reconciler.js';
import { mustWait, type PlacementFacts, plan as planPlacement } from '../placement/plan.js';

/** The least time between two looks, however much changes. */
const LOOK_EVERY_MS = 50;
/** The least time between two renewals of the explanations, for each waiting instance: 5 s when 5,000 wait. */
const EXPLAIN_EVERY_MS = 1;

/** Instances with the same needs and the same message. Never empty. */
export interface WaitingGroup {
  readonly size: number;
  /** Returns ids of instances in the group, at most `most`. */
  readonly take: (most: number) => readonly string[];
  /** Placement's facts of the group's first instance. */
  readonly first: PlacementFacts;
  /** How many instances of the group fit at most. */
  readonly room: () => number;
}

export interface WaitingFacts {
  readonly groups: readonly WaitingGroup[];
  /** The time since placement was last asked to look at waiting instances. */
  readonly lookedAgoMs: number;
  /** The time since placement was last asked to renew explanations. */
  readonly explainedAgoMs: number;
}

export interface LookStep {
  readonly do: 'look';
  readonly ids: readonly string[];
  /** True when the group's explanations are out of date; false when a place may be free for the group. */
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
  const isHeld = first.waits.length + first.templateProblems.length > 0;
  return first.choice !== undefined && !isHeld && !mustWait(first);
}

function isOutdated({ first }: WaitingGroup): boolean {
  return planPlacement(first).steps.length > 0;
}

function look(ids: readonly string[], isToExplain: boolean): LookStep {
  return { do: 'look', ids, isToExplain };
}
