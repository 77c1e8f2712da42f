/**
 * Foretells what a rollout replaces under a content that is not in force yet: the record it would take up, and its
 * victims. It assumes that new instances become good. Pure.
 */
import type { RolloutRecord } from '../../../src/model/rollout.js';
import type { Member, RolloutFacts } from './facts.js';
import { type Budget, hasGuests, isCurrent, type Judged, judge } from './members.js';
import { mayMove } from './plan.js';
import { followed, taken } from './record.js';

export interface Foretold {
  /** The record that the rollout will have before it makes its first move; undefined: there is no rollout. */
  readonly rollout: RolloutRecord | undefined;
  /** The victims, in the order in which they go. */
  readonly victims: readonly ForetoldVictim[];
  /** Ids of the victims that are left until somebody promotes the canaries. */
  readonly onPromotion: ReadonlySet<string>;
  readonly budget: Pick<Budget, 'surge' | 'unavailable'>;
}

export interface ForetoldVictim extends Pick<Member, 'id' | 'static'> {
  readonly isUp: boolean;
  /** True when the rollout leaves the victim alone while it has players. */
  readonly waits: boolean;
  /** True when a replacement already stands beside the victim. */
  readonly hasSpare: boolean;
}

/** The forecast when there is no rollout, or it moves nothing. */
export const NO_ROLLOUT: Foretold = {
  rollout: undefined,
  victims: [],
  onPromotion: new Set(),
  budget: { surge: 0, unavailable: 0 },
};

/** The most looks: more than the states that a record can pass through before its first move. */
const MOST_LOOKS = 10;

/**
 * Foretells the rollout. `facts`: the facts before the rollout takes the content up. `membersOf`: returns the
 * members under the rollout that follows.
 */
export function foretell(
  facts: RolloutFacts,
  membersOf: (rollout: RolloutRecord) => readonly Member[],
): Foretold {
  const begun = taken(facts);
  let rollout = begun ?? facts.rollout;
  for (let looks = 0; rollout !== undefined && mayMove(rollout) && looks < MOST_LOOKS; looks++) {
    const agedMs = begun === undefined ? facts.agedMs : 0;
    const next = { ...facts, rollout, isNews: false, members: membersOf(rollout), agedMs, stalledMs: 0 };
    const judged = judge(next);
    const { state, isPromoted } = rollout;
    rollout = followed(next, rollout, judged);
    if (rollout.state === state && rollout.isPromoted === isPromoted) return movesOf(next, rollout, judged);
  }
  return { ...NO_ROLLOUT, rollout };
}

function movesOf(facts: RolloutFacts, rollout: RolloutRecord, { victims, spares, budget }: Judged): Foretold {
  return {
    rollout,
    victims: victims.map((one) => ({
      id: one.id,
      static: one.static,
      isUp: one.up !== null,
      waits: one.up !== null && hasGuests(facts, one),
      hasSpare: spares.has(one.id),
    })),
    onPromotion: new Set(victims.slice(untilPromotion(facts, rollout)).map(({ id }) => id)),
    budget,
  };
}

/** How many victims go before somebody promotes the canaries. */
function untilPromotion({ update, members }: RolloutFacts, { isPromoted }: RolloutRecord): number {
  if (isPromoted || update.promote === 'auto') return Number.POSITIVE_INFINITY;
  return Math.max(0, update.canary - members.filter(isCurrent).length);
}
