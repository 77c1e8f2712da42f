/** The wakes when a place may be free that was not free before, or when a template changed. */
import type { Wake, WakeFacts } from './wake.js';

/** What waits for a place is looked at again this long after something came free, however much came free. */
const LOOK_AGAIN_MS = 50;

export function* wakesOfNewPlace(facts: WakeFacts): Generator<Wake> {
  for (const key of facts.awaitingPlace.get(true))
    yield { controller: 'placement', key, when: LOOK_AGAIN_MS };
  yield* wakesOfNewRoom(facts);
}

/** The wakes when a configuration may have one more instance. Only drains wait for that and then make one. */
export function* wakesOfNewRoom(facts: WakeFacts): Generator<Wake> {
  for (const key of facts.draining.get(true)) yield { controller: 'drain', key, when: LOOK_AGAIN_MS };
}
