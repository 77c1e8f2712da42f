/**
 * The content controller's decision: which instances take the content in force by themselves, in place, and when. All
 * others keep what they were made from, until somebody updates or replaces them.
 */
import type { Plan } from '../../../src/loop/reconciler.js';

export interface ContentFacts {
  readonly id: string;
  /** Its configuration says something else than it was made from. */
  readonly isOutdated: boolean;
  /** Somebody asked that it takes the content in force when its players have left. */
  readonly isAsked: boolean;
  readonly players: number;
}

/** Takes the content in force in place. `why` ends the sentence "... takes it: ". */
export interface ContentStep {
  readonly do: 'update';
  readonly id: string;
  readonly why: string;
}

export function plan({ id, isOutdated, isAsked, players }: ContentFacts): Plan<ContentStep> {
  if (!isOutdated && !isAsked) return { steps: [] };
  if (isAsked) return { steps: players > 0 ? [] : [{ do: 'update', id, why: 'its players have left' }] };
  return { steps: [] };
}
