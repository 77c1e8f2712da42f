/**
 * The content controller's decision: which instances take the content in force in place, without being asked, and when.
 * All others keep their content until somebody updates or replaces them.
 */
import type { Plan } from '../../../src/loop/reconciler.js';

export interface ContentFacts {
  readonly id: string;
  /**
   * The kind of change that leads to the content in force. `none`: the instance has that content. `live`: a
   * change without a restart. `start`: a start with that content.
   */
  readonly asks: 'none' | 'live' | 'start';
  /** True when an operator asked that the instance takes the content in force once its players have left. */
  readonly isAsked: boolean;
  readonly players: number;
  /** True when the instance has done its work (`hasFinished`); a new restart policy must not start it again. */
  readonly hasFinished: boolean;
  /** True when the instance has yet to start for the first time (`awaitsFirstStart`). */
  readonly awaitsFirstStart: boolean;
  /**
   * Why the node of the instance cannot hold it with that content; undefined: the node can. Called only if the instance
   * would start with that content.
   */
  readonly refusal: () => string | undefined;
}

/** The time until the next look at an instance that its node refused. */
const LOOK_AGAIN_MS = 60_000;

/** Gives an instance the content in force in place. `why` completes the log's sentence "... takes it: ". */
export interface ContentStep {
  /** `update`: with a restart if the content needs one; `refit`: without a restart. */
  readonly do: 'update' | 'refit';
  readonly id: string;
  readonly why: string;
}

export function plan(facts: ContentFacts): Plan<ContentStep> {
  const { id, asks, hasFinished } = facts;
  if (asks === 'live' && !hasFinished)
    return { steps: [{ do: 'refit', id, why: 'only what holds without a restart has changed' }] };
  const why = whyStart(facts);
  if (why === undefined) return { steps: [] };
  return facts.refusal() === undefined
    ? { steps: [{ do: 'update', id, why }] }
    : { steps: [], recheckInMs: LOOK_AGAIN_MS };
}

function whyStart({ asks, isAsked, players, awaitsFirstStart }: ContentFacts): string | undefined {
  if (isAsked && players === 0) return 'that was asked for, and it has no players';
  if (asks === 'start' && awaitsFirstStart) return 'it has not been ready with what it has';
  return undefined;
}
