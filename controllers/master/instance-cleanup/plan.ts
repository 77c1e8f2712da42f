/**
 * The instance-cleanup controller's decision: remove records that no node holds any more, and revisions that
 * nothing uses.
 */
import type { Plan } from '../../../src/loop/reconciler.js';

export type CleanupFacts =
  | {
      readonly kind: 'instance';
      readonly id: string;
      readonly isUnwanted: boolean;
      /** The instance has a node that has not confirmed that process and directory are gone. */
      readonly isHeld: boolean;
    }
  | { readonly kind: 'revision'; readonly hash: string; readonly isUsed: boolean };

export type CleanupStep =
  | { readonly do: 'remove-instance'; readonly id: string }
  | { readonly do: 'remove-revision'; readonly hash: string };

export function plan(facts: CleanupFacts): Plan<CleanupStep> {
  switch (facts.kind) {
    case 'instance':
      return { steps: facts.isUnwanted && !facts.isHeld ? [{ do: 'remove-instance', id: facts.id }] : [] };
    case 'revision':
      return { steps: facts.isUsed ? [] : [{ do: 'remove-revision', hash: facts.hash }] };
    default:
      return facts satisfies never;
  }
}
