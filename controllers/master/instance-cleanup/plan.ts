/**
 * The instance-cleanup controller's decision: remove records that no node holds any more, instances that ended by
 * themselves, and revisions that nothing uses.
 */
import type { Plan } from '../../../src/loop/reconciler.js';

/** Of each configuration at most this many are kept that ended by themselves. */
export const MOST_ENDED = 10;
/** They are kept for this long. The newest of each configuration is kept for longer. */
export const ENDED_KEPT_MS = 24 * 3_600_000;
/** Ends are known by the wall clock, which may jump: the time is looked at this often. */
const LOOK_AGAIN_MS = 60_000;

/** An instance that ended by itself (`hasEndedByItself`) and is still wanted or stopped. */
export interface EndedInstance {
  readonly id: string;
  readonly agoMs: number;
  /** It counts towards the minimum: a finished one does. */
  readonly counts: boolean;
}

export type CleanupFacts =
  | {
      readonly kind: 'instance';
      readonly id: string;
      readonly isUnwanted: boolean;
      /** The instance has a node that has not confirmed that process and directory are gone. */
      readonly isHeld: boolean;
    }
  | {
      readonly kind: 'ended';
      /** Of one configuration, newest first. */
      readonly ended: readonly EndedInstance[];
      /** How many of those that count may go before another would be made in their place. */
      readonly spare: number;
    }
  | { readonly kind: 'revision'; readonly hash: string; readonly isUsed: boolean };

export type CleanupStep =
  | { readonly do: 'remove-instance'; readonly id: string }
  | { readonly do: 'collect'; readonly id: string; readonly agoMs: number }
  | { readonly do: 'remove-revision'; readonly hash: string };

export function plan(facts: CleanupFacts): Plan<CleanupStep> {
  switch (facts.kind) {
    case 'instance':
      return { steps: facts.isUnwanted && !facts.isHeld ? [{ do: 'remove-instance', id: facts.id }] : [] };
    case 'ended':
      return planEnded(facts);
    case 'revision':
      return { steps: facts.isUsed ? [] : [{ do: 'remove-revision', hash: facts.hash }] };
    default:
      return facts satisfies never;
  }
}

/** The oldest go first. One that the minimum counts on stays: its end was to be the end. */
function planEnded({ ended, spare }: CleanupFacts & { kind: 'ended' }): Plan<CleanupStep> {
  const steps: CleanupStep[] = [];
  let left = spare;
  for (const { id, agoMs, counts } of ended.filter(isDue).toReversed())
    if (!counts || left-- > 0) steps.push({ do: 'collect', id, agoMs });
  return ended.length > 1 ? { steps, recheckInMs: LOOK_AGAIN_MS } : { steps };
}

function isDue({ agoMs }: EndedInstance, newer: number): boolean {
  return newer >= MOST_ENDED || (newer > 0 && agoMs >= ENDED_KEPT_MS);
}
