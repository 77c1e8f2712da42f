/** Judges the members of a rollout: who is good, who may be replaced, and how many may be missing or extra. */
import { mayBeUsed } from '../../../src/model/instance.js';
import { hasEnded, phaseOf, type RolloutCounts } from '../../../src/model/rollout.js';
import { amountOf } from '../../../src/model/update.js';
import type { Member, RolloutFacts } from './facts.js';

/** The members of one rollout, judged once. */
export interface Judged {
  /** The members except the spares: each is a place of the service that an instance fills. */
  readonly slots: readonly Member[];
  /** The replacement that stands beside an original, by the original's id. */
  readonly spares: ReadonlyMap<string, Member>;
  /** Ids of the members that have the content of the rollout and are good. */
  readonly good: ReadonlySet<string>;
  /** The members to be replaced, in order: not up, then free, then with players; the oldest first. */
  readonly victims: readonly Member[];
  readonly budget: Budget;
}

export interface Budget {
  /** How many replacements may stand beside their originals. */
  readonly surge: number;
  /** How many slots may be without a ready instance. */
  readonly unavailable: number;
  /** How many slots have no ready instance. */
  readonly missing: number;
}

export function judge(facts: RolloutFacts): Judged {
  const { members } = facts;
  const good = new Set(members.filter((one) => isGood(facts, one)).map(({ id }) => id));
  const slots = members.filter(({ role }) => role.is !== 'spare');
  const spares = new Map<string, Member>();
  for (const member of members) if (member.role.is === 'spare') spares.set(member.role.of, member);
  const isReady = (one: Member): boolean => (isCurrent(one) ? good.has(one.id) : one.up !== null);
  const ready = slots.filter((one) => {
    const spare = spares.get(one.id);
    return isReady(one) || (spare !== undefined && isReady(spare));
  });
  const victims = inOrder(
    facts,
    slots.filter((one) => isVictim(facts, one)),
  );
  const budget = { ...budgetOf(facts, ready), missing: slots.length - ready.length };
  return { slots, spares, good, victims, budget };
}

/** True when the member has been ready for minReadySeconds without a restart, with the templates of the rollout. */
function isGood({ update, behind }: RolloutFacts, member: Member): boolean {
  if (behind?.has(member.id) === true) return false;
  return isCurrent(member) && member.up !== null && member.up.forMs >= update.minReadySeconds * 1000;
}

export function isCurrent({ content }: Member): boolean {
  return content === 'current';
}

/** True when the rollout leaves a member alone because of its players. */
export function hasGuests({ update, agedMs }: RolloutFacts, member: Member): boolean {
  const { strategy, players, playersSeconds } = update;
  const isUsed = mayBeUsed(member.players);
  const isIdle = member.players === 'none' || (member.hasRestarted && !isUsed);
  if (strategy === 'idle') return member.up !== null && !isIdle;
  if (players === 'ignore' || !isUsed) return false;
  return playersSeconds === 0 || agedMs < playersSeconds * 1000;
}

/**
 * True when the rollout replaces the member. A rollout under way replaces every outdated member. A failed
 * rollout replaces only members of its own content that are not up, so that as many stand again as before.
 */
function isVictim({ rollout }: RolloutFacts, member: Member): boolean {
  if (rollout === undefined || isCurrent(member) || member.node === 'away') return false;
  if (member.node === 'draining' && !member.static) return false;
  const phase = phaseOf(rollout);
  if (phase === 'failed') return member.up === null && member.revision === rollout.to;
  return !hasEnded(rollout);
}

/** `victims` in the order in which they go; among equals the oldest first. Judges each once: there may be thousands. */
function inOrder(facts: RolloutFacts, victims: readonly Member[]): Member[] {
  const ranks: Member[][] = [[], [], []];
  for (const victim of victims) ranks[rank(facts, victim)]?.push(victim);
  return ranks.flatMap((equals) => equals.sort((a, b) => a.createdAt - b.createdAt));
}

function rank(facts: RolloutFacts, member: Member): 0 | 1 | 2 {
  if (member.up === null) return 0;
  return hasGuests(facts, member) ? 2 : 1;
}

/**
 * How many spares there may be, and how many slots may lack an instance. Percentages are of the ready members
 * that may be replaced, without those that are left alone for their players.
 */
function budgetOf(facts: RolloutFacts, ready: readonly Member[]): Pick<Budget, 'surge' | 'unavailable'> {
  const { update, outlook } = facts;
  const base = ready.filter((one) => !hasGuests(facts, one)).length;
  // At the maximum no spare is possible: the old instance goes first.
  const surge = outlook.isAtMaximum ? 0 : amountOf(update.maxSurge, base, 'up');
  const unavailable = amountOf(update.maxUnavailable, base, 'down');
  // Both numbers may be 0, for example by rounding. Then let one slot be unavailable, or the rollout would
  // stand still.
  return { surge, unavailable: surge === 0 ? Math.max(1, unavailable) : unavailable };
}

export function countsOf(facts: RolloutFacts, { slots, good, victims }: Judged): RolloutCounts {
  const { members } = facts;
  const outdated = slots.filter((one) => !isCurrent(one));
  return {
    total: slots.length,
    updated: members.filter(isCurrent).length,
    good: good.size,
    outdated: outdated.length,
    waiting: victims.filter((one) => one.up !== null && hasGuests(facts, one)).length,
  };
}
