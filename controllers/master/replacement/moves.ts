/**
 * The pace of moves: which victims to replace, remove or take back now. A replacement is ONLINE before its original is
 * stopped, and few victims move at a time. The plans of callers, such as the drain, use it.
 */
import type { Plan } from '../../../src/loop/reconciler.js';
import type { Victim } from './facts.js';
import { type Judged, movingOf } from './verdict.js';

/** The share of the remaining instances that may be starting or ending at a time; at least `LEAST_AT_ONCE`. */
const SHARE_AT_ONCE = 0.2;
const LEAST_AT_ONCE = 2;

export type MoveStep = ReplaceStep | RemoveStep;

export interface ReplaceStep {
  /**
   * `create`: make the replacement beside the instance. `replace`: make it and remove the instance, in one transaction.
   */
  readonly do: 'create' | 'replace';
  readonly id: string;
  /** See `ReplaceOptions`. */
  readonly content?: 'rollout';
}

/** Removes the instance, provided that its partner `staying` is wanted. */
export interface RemoveStep {
  readonly do: 'remove';
  readonly id: string;
  readonly staying: string;
  readonly why: string;
  /** `staying` replaces another instance now; after the step it replaces this one. */
  readonly isHandOver?: true;
}

export function planMoves(judged: readonly Judged[], remainingMs: number): Plan<MoveStep> {
  const recheckInMs = Math.min(...judged.map((one) => recheckOf(one, remainingMs)));
  const steps = stepsOf(movingOf(judged));
  return recheckInMs === Number.POSITIVE_INFINITY ? { steps } : { steps, recheckInMs };
}

/** How many instances may be starting or ending at a time while `left` are left. */
export function atOnce(left: number): number {
  return Math.max(LEAST_AT_ONCE, Math.ceil(left * SHARE_AT_ONCE));
}

/** The time until the verdict may change without any event. */
function recheckOf({ victim, verdict }: Judged, remainingMs: number): number {
  if (verdict.kind === 'players') return remainingMs;
  if (verdict.kind === 'stuck') return victim.outlook.recheckInMs ?? Number.POSITIVE_INFINITY;
  return Number.POSITIVE_INFINITY;
}

function stepsOf(moving: readonly Judged[]): MoveStep[] {
  const busy = moving.filter(({ verdict }) => verdict.kind === 'starting' || verdict.kind === 'ending');
  const steps: MoveStep[] = [];
  // Make one replacement at a time: until the last one has a place, the room for the next is unknown.
  const isPlacing = moving.some(({ victim }) => victim.replacement?.isAnswered === false);
  let free = isPlacing || busy.length >= atOnce(moving.length) ? 0 : 1;
  for (const { victim, verdict } of moving) {
    const { id } = victim;
    if (verdict.kind === 'remove') {
      const { staying } = verdict;
      steps.push({ do: 'remove', id, staying, why: whyRemoved(victim, staying) });
    }
    if ((verdict.kind === 'create' || verdict.kind === 'replace') && free-- > 0)
      steps.push({ do: verdict.kind, id });
  }
  return steps;
}

function whyRemoved({ spareFor }: Victim, staying: string): string {
  return spareFor === null ? `${staying} has taken its place` : 'what it was made to replace still stands';
}
