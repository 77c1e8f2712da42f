/**
 * Foretells what a rollout replaces under a content that is not in force yet: the record it would take up, and its
 * victims. It assumes that new instances become good. Pure.
 */
import type { RolloutRecord } from '../../../src/model/rollout.js';
import type { Member, RolloutFacts } from './facts.js';
import { type Budget, hasGuests, isCurrent, judge } from './members.js';
import { mayMove } from './plan.js';
import { taken } from './record.js';

export interface Foretold {
  /** The victims, in the order in which they go. */
  readonly victims: readonly ForetoldVictim[];
  /** Ids of the victims that are left until somebody promotes the canaries. */
  readonly onPromotion: ReadonlySet<string>;
  readonly budget: Pick<Budget, 'surge' | 'unavailable'>;
}

export interface ForetoldVictim extends Pick<Member, 'id' | 'static'> {
  readonly isUp: boolean;
  /** The rollout leaves the victim alone while it has players. */
  readonly waits: boolean;
  /** A replacement already stands beside the victim. */
  readonly hasSpare: boolean;
}

/** The forecast when there is no rollout, or it moves nothing. */
export const NO_ROLLOUT: Foretold = {
  victims: [],
  onPromotion: new Set(),
  budget: { surge: 0, unavailable: 0 },
};

/** `facts` are those before the content is taken up; `membersOf` returns the members under the rollout that follows. */
export function foretell(
  facts: RolloutFacts,
  membersOf: (rollout: RolloutRecord) => readonly Member[],
): Foretold {
  const begun = taken(facts);
  const rollout = begun ?? facts.rollout;
  if (rollout === undefined || !mayMove(rollout)) return NO_ROLLOUT;
  const agedMs = begun === undefined ? facts.agedMs : 0;
  const next: RolloutFacts = { ...facts, rollout, isNews: false, members: membersOf(rollout), agedMs };
  const { victims, spares, budget } = judge(next);
  return {
    victims: victims.map((one) => ({
      id: one.id,
      static: one.static,
      isUp: one.up !== null,
      waits: one.up !== null && hasGuests(next, one),
      hasSpare: spares.has(one.id),
    })),
    onPromotion: new Set(victims.slice(untilPromotion(next, rollout)).map(({ id }) => id)),
    budget,
  };
}

/** How many victims go before somebody promotes the canaries. */
function untilPromotion({ update, members }: RolloutFacts, { isPromoted }: RolloutRecord): number {
  if (isPromoted || update.promote === 'auto') return Number.POSITIVE_INFINITY;
  return Math.max(0, update.canary - members.filter(isCurrent).length);
}
