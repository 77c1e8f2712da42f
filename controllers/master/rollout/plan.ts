/**
 * The rollout controller's decision: what its record says next, and which instances move now. `record.ts` decides when a
 * rollout begins and ends, `members.ts` who may go, `moves.ts` in which steps.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Plan } from '../../../src/loop/reconciler.js';
import { hasEnded, phaseOf, type RolloutRecord } from '../../../src/model/rollout.js';
import type { GoneFacts, RolloutFacts } from './facts.js';
import { hasGuests, isCurrent, type Judged, judge } from './members.js';
import { pendingOf, planMoves, type RolloutMove } from './moves.js';
import { followed, taken } from './record.js';

export type RolloutStep =
  /** `before` is the record that the decision read; undefined: there was none. */
  | { readonly do: 'write'; readonly before: RolloutRecord | undefined; readonly rollout: RolloutRecord }
  | { readonly do: 'forget'; readonly name: string }
  | { readonly do: 'mark'; readonly id: string; readonly isOutdated: boolean }
  | RolloutMove;

export function plan(facts: RolloutFacts | GoneFacts): Plan<RolloutStep> {
  if (facts.kind === 'gone') return { steps: [{ do: 'forget', name: facts.name }] };
  const { rollout: before } = facts;
  const begun = taken(facts);
  // Write the new record first: the next round decides everything else by it.
  if (begun !== undefined) return { steps: [{ do: 'write', before, rollout: begun }] };
  if (before === undefined) return { steps: [] };
  const judged = judge(facts);
  const rollout = followed(facts, before, judged);
  const steps: RolloutStep[] = isDeepStrictEqual(rollout, before) ? [] : [{ do: 'write', before, rollout }];
  steps.push(...marksOf(facts, judged));
  // A changed state needs other moves, so this round only writes it.
  if (rollout.state !== before.state || rollout.isPromoted !== before.isPromoted) return { steps };
  if (mayMove(rollout)) steps.push(...planMoves(facts, judged));
  const recheckInMs = recheckOf(facts, rollout, judged);
  return recheckInMs === Number.POSITIVE_INFINITY ? { steps } : { steps, recheckInMs };
}

/**
 * True while the rollout may move instances. While it awaits a promotion, it only removes instances that its
 * canaries replace.
 */
export function mayMove({ state }: RolloutRecord): boolean {
  return state !== 'paused' && state !== 'complete' && state !== 'rolled-back';
}

/** Marks instances that wait for their players: clients see the mark, and send new players elsewhere. */
function marksOf(facts: RolloutFacts, { victims }: Judged): RolloutStep[] {
  const { rollout, members } = facts;
  const isUnderWay = rollout !== undefined && !hasEnded(rollout);
  const waiting = new Set(
    victims.filter((one) => isUnderWay && one.up !== null && hasGuests(facts, one)).map(({ id }) => id),
  );
  return members
    .filter(({ id, isMarked }) => waiting.has(id) !== isMarked)
    .map(({ id, isMarked }) => ({ do: 'mark', id, isOutdated: !isMarked }));
}

/** The time until the decision may change without any event. */
function recheckOf(facts: RolloutFacts, rollout: RolloutRecord, judged: Judged): number {
  const { update, agedMs, stalledMs, outlook, members } = facts;
  if (rollout.state === 'paused' || rollout.state === 'complete') return Number.POSITIVE_INFINITY;
  const times: number[] = [];
  const goodAfterMs = update.minReadySeconds * 1000;
  for (const one of members)
    if (isCurrent(one) && one.up !== null && one.up.forMs < goodAfterMs)
      times.push(goodAfterMs - one.up.forMs);
  if (update.playersSeconds > 0 && judged.victims.some((one) => hasGuests(facts, one)))
    times.push(update.playersSeconds * 1000 - agedMs);
  if (rollout.progressAt !== null) times.push(update.progressSeconds * 1000 - stalledMs);
  if (outlook.recheckInMs !== null && (judged.victims.length > 0 || pendingOf(facts, judged).length > 0))
    times.push(outlook.recheckInMs);
  return Math.max(0, Math.min(...times));
}

/**
 * True while the rollout moves this instance to the new content. Only the rollout then decides which of an original and
 * its replacement stays.
 */
export function isMoving(rollout: RolloutRecord, isUpToDate: boolean): boolean {
  return !isUpToDate && !hasEnded(rollout) && phaseOf(rollout) !== 'failed';
}
