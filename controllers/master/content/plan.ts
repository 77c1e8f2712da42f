/**
 * The content controller's decision: which instances take the content in force in place, without being asked, and when.
 * All others keep their content until somebody updates or replaces them.
 */
import type { Plan } from '../../../src/loop/reconciler.js';

export interface ContentFacts {
  readonly id: string;
  /**
   * The change that the content in force needs. `none`: the instance has that content. `live`: no restart. `start`: a
   * start.
   */
  readonly asks: 'none' | 'live' | 'start';
  /** Somebody asked that the instance takes the content in force when its players have left. */
  readonly isAsked: boolean;
  readonly players: number;
  /** The instance has done its work (`hasFinished`); a new restart policy must not start it again. */
  readonly hasFinished: boolean;
  /** See `awaitsFirstStart`. */
  readonly awaitsFirstStart: boolean;
  /**
   * Why its node cannot hold the instance with that content; undefined: it can. Called only if the instance would start
   * with it.
   */
  readonly refusal: () => string | undefined;
}

/** How often a refusal by the node is looked at again. */
const LOOK_AGAIN_MS = 60_000;

/** Takes the content in force in place. `why` ends the sentence "... takes it: ". */
export interface ContentStep {
  /** `refit`: without a restart. */
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
