/**
 * The next moves of a rollout: which outdated instance to end, replace or update in place now. An instance ends only
 * while at most `maxUnavailable` slots lack a ready instance.
 */
import { mayBeUsed } from '../../../src/model/instance.js';
import { phaseOf } from '../../../src/model/rollout.js';
import { atOnce, type MoveStep } from '../replacement/moves.js';
import type { Member, RolloutFacts } from './facts.js';
import { hasGuests, isCurrent, type Judged } from './members.js';

export type RolloutMove =
  | MoveStep
  /** Gives a static instance the content in place. */
  | { readonly do: 'update'; readonly id: string };

export function planMoves(facts: RolloutFacts, judged: Judged): RolloutMove[] {
  const steps = removalsOf(facts, judged);
  const next = planStatic(facts, judged) ?? planNext(facts, judged, steps);
  return next === undefined ? steps : [...steps, next];
}

/**
 * The members that the rollout made or updated, and that are not good yet. While there are any, or victims
 * that can go, the progress deadline runs.
 */
export function pendingOf({ members }: RolloutFacts, { good }: Pick<Judged, 'good'>): Member[] {
  return members.filter(
    (one) => isCurrent(one) && (one.role.is !== 'first' || one.static) && !good.has(one.id),
  );
}

/** The victims that have no players to wait for. Only pace, room or the canaries may hold them back. */
export function readyToGo(facts: RolloutFacts, { victims }: Pick<Judged, 'victims'>): Member[] {
  return victims.filter((one) => !hasGuests(facts, one) || one.up === null);
}

/** Removes from each pair the instance that is not needed any more. No slot loses a ready instance by that. */
function removalsOf(facts: RolloutFacts, judged: Judged): MoveStep[] {
  const steps: MoveStep[] = [];
  // A failed rollout leaves its pairs to the replacement controller.
  if (facts.rollout === undefined || phaseOf(facts.rollout) === 'failed') return steps;
  for (const victim of judged.victims) {
    const spare = judged.spares.get(victim.id);
    if (spare === undefined) continue;
    const isBetter = victim.up === null || (isCurrent(spare) && judged.good.has(spare.id));
    if (isBetter && !hasGuests(facts, victim))
      steps.push({ do: 'remove', id: victim.id, staying: spare.id, why: `${spare.id} has taken its place` });
    // A victim that waits for its players is no reason to keep it: it would hold up the others.
    else if (!isBetter && !isCurrent(spare) && spare.node !== 'away' && !hasGuests(facts, spare))
      steps.push({ do: 'remove', id: spare.id, staying: victim.id, why: 'its content is out of date' });
  }
  return steps;
}

/**
 * Updates one static member at a time, across all nodes: an updated member must be good before the next one
 * is updated.
 */
function planStatic(facts: RolloutFacts, { victims, slots, good }: Judged): RolloutMove | undefined {
  const isBusy = slots.some((one) => one.static && isCurrent(one) && !good.has(one.id));
  if (isBusy || isCanaryFull(facts)) return undefined;
  const next = victims.find(
    (one) => one.static && one.content !== 'unsafe' && (!hasGuests(facts, one) || one.up === null),
  );
  return next === undefined ? undefined : { do: 'update', id: next.id };
}

/** Replaces one member at a time: until the last replacement has a place, the room for the next is unknown. */
function planNext(
  facts: RolloutFacts,
  judged: Judged,
  removals: readonly MoveStep[],
): RolloutMove | undefined {
  if (facts.outlook.isDelayed) return undefined;
  const move = giveRoom(facts, judged);
  if (move !== undefined) return move;
  if (isCanaryFull(facts)) return undefined;
  const waiting = judged.victims.filter((one) => !one.static && !judged.spares.has(one.id));
  const free = waiting.find((one) => one.up === null || !hasGuests(facts, one));
  if (free !== undefined) return replaceOne(facts, judged, free, removals);
  return surgeForGuests(facts, judged, waiting);
}

/** Ends a victim first when its spare lost its room to another configuration, and one more slot may be unavailable. */
function giveRoom(facts: RolloutFacts, { victims, spares, budget }: Judged): MoveStep | undefined {
  if (facts.outlook.obstacle === null || budget.missing >= budget.unavailable) return undefined;
  for (const { id } of readyToGo(facts, { victims })) {
    const spare = spares.get(id);
    if (spare !== undefined && isCurrent(spare) && spare.node === 'none')
      return { do: 'remove', id, staying: spare.id, why: `${spare.id} needs its room` };
  }
  return undefined;
}

function replaceOne(
  facts: RolloutFacts,
  judged: Judged,
  victim: Member,
  removals: readonly MoveStep[],
): RolloutMove | undefined {
  const { id } = victim;
  const { budget, spares } = judged;
  const content = 'rollout' as const;
  const hasRoom = facts.outlook.obstacle === null;
  if (victim.up === null) {
    const isPaced = pendingOf(facts, judged).length < atOnce(judged.slots.length);
    return isPaced && (hasRoom || budget.unavailable > 0) ? { do: 'replace', id, content } : undefined;
  }
  const heir = heirFor(facts, judged, removals);
  if (heir !== undefined)
    return { do: 'remove', id, staying: heir.id, why: `${heir.id} has taken its place`, isHandOver: true };
  if (hasRoom && spares.size < budget.surge) return { do: 'create', id, content };
  return budget.missing < budget.unavailable ? { do: 'replace', id, content } : undefined;
}

/**
 * A good replacement whose original stays because of its players. It can take the place of a victim that has
 * no replacement.
 */
function heirFor(facts: RolloutFacts, judged: Judged, removals: readonly MoveStep[]): Member | undefined {
  if (removals.length > 0) return undefined;
  const kept = judged.victims.find((one) => {
    const spare = judged.spares.get(one.id);
    const isHeir = spare !== undefined && isCurrent(spare) && judged.good.has(spare.id);
    return one.up !== null && hasGuests(facts, one) && isHeir;
  });
  return kept && judged.spares.get(kept.id);
}

/** When all victims have players and so stay, makes one spare: new players then find the new content. */
function surgeForGuests(
  facts: RolloutFacts,
  { spares }: Judged,
  waiting: readonly Member[],
): RolloutMove | undefined {
  const { members, outlook, update, rollout } = facts;
  const [oldest] = waiting;
  const hasNew = members.some((one) => isCurrent(one) && (!mayBeUsed(one.players) || one.up === null));
  const isRolling = rollout !== undefined && phaseOf(rollout) !== 'failed' && update.strategy === 'rolling';
  if (oldest === undefined || hasNew || !isRolling || outlook.obstacle !== null || outlook.isAtMaximum)
    return undefined;
  // A maxSurge in percent rounds to 0 here; make one spare anyway, unless maxSurge is 0.
  return isNoSurge(update.maxSurge) || spares.size > 0
    ? undefined
    : { do: 'create', id: oldest.id, content: 'rollout' };
}

function isNoSurge(maxSurge: number | string): boolean {
  return maxSurge === 0 || maxSurge === '0%';
}

function isCanaryFull({ members, update, rollout }: RolloutFacts): boolean {
  if (rollout === undefined || rollout.isPromoted || phaseOf(rollout) === 'failed') return false;
  return members.filter(isCurrent).length >= update.canary;
}
