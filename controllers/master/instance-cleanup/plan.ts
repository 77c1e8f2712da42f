/**
 * The instance-cleanup controller's decision. It ends runs of jobs at their time-out. It removes records that no node
 * holds any more, instances that ended by themselves, old records of ends, and revisions that nothing uses.
 */
import type { Plan } from '../../../src/loop/reconciler.js';
import { EXITS_KEPT_MS, MOST_EXIT_RECORDS } from '../../../src/model/exit-record.js';

/** How many instances that ended by themselves are kept of each configuration. */
export const MOST_ENDED = 10;
/** How long ended instances are kept. The newest of each configuration is kept for longer. */
export const ENDED_KEPT_MS = 24 * 3_600_000;
/**
 * How often the age of ended instances is checked. A single long timer would not do: `endedAt` is wall-clock time, which may
 * jump.
 */
const LOOK_AGAIN_MS = 60_000;
const LOOK_AT_EXITS_MS = 3_600_000;

/** An instance that ended by itself (`hasEndedByItself`) and is still wanted or stopped. */
export interface EndedInstance {
  readonly id: string;
  readonly agoMs: number;
  /** True when the instance counts towards the minimum, as a finished one does. */
  readonly counts: boolean;
}

export type CleanupFacts =
  | {
      readonly kind: 'instance';
      readonly id: string;
      readonly isUnwanted: boolean;
      /** True when the instance has a node that has not yet confirmed that process and directory are gone. */
      readonly isHeld: boolean;
      /** The time until the run of a job is ended, because it takes too long. Undefined: nothing runs, or no limit. */
      readonly timeOutInMs?: number | undefined;
    }
  | {
      readonly kind: 'ended';
      /** Instances of one configuration, newest first. */
      readonly ended: readonly EndedInstance[];
      /** How many counted instances may go before minimum-service would make another. */
      readonly spare: number;
    }
  /** All records of ends, newest first. */
  | { readonly kind: 'exits'; readonly exits: readonly { readonly id: string; readonly agoMs: number }[] }
  | { readonly kind: 'revision'; readonly hash: string; readonly isUsed: boolean };

export type CleanupStep =
  | { readonly do: 'remove-instance'; readonly id: string }
  | { readonly do: 'time-out'; readonly id: string }
  | { readonly do: 'collect'; readonly id: string; readonly agoMs: number }
  | { readonly do: 'remove-exits'; readonly ids: readonly string[] }
  | { readonly do: 'remove-revision'; readonly hash: string };

export function plan(facts: CleanupFacts): Plan<CleanupStep> {
  switch (facts.kind) {
    case 'instance':
      if (facts.timeOutInMs !== undefined && !facts.isUnwanted)
        return facts.timeOutInMs <= 0
          ? { steps: [{ do: 'time-out', id: facts.id }] }
          : { steps: [], recheckInMs: Math.min(facts.timeOutInMs, LOOK_AGAIN_MS) };
      return { steps: facts.isUnwanted && !facts.isHeld ? [{ do: 'remove-instance', id: facts.id }] : [] };
    case 'ended':
      return planEnded(facts);
    case 'exits': {
      const over = facts.exits.filter(
        ({ agoMs }, newer) => newer >= MOST_EXIT_RECORDS || agoMs >= EXITS_KEPT_MS,
      );
      const steps = over.length === 0 ? [] : [{ do: 'remove-exits' as const, ids: over.map(({ id }) => id) }];
      return { steps, recheckInMs: LOOK_AT_EXITS_MS };
    }
    case 'revision':
      return { steps: facts.isUsed ? [] : [{ do: 'remove-revision', hash: facts.hash }] };
    default:
      return facts satisfies never;
  }
}

/**
 * Removes instances that ended by themselves, the oldest first. An instance that the minimum needs stays:
 * otherwise a new one would take its place, against its restart policy.
 */
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
