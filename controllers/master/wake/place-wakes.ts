/** What is woken when there may be a place that was not there before, or a template. */
import type { Wake, WakeFacts } from './wake.js';

/** What waits for a place is looked at again this long after something came free, however much came free. */
const LOOK_AGAIN_MS = 50;

export function* wakesOfNewPlace(facts: WakeFacts): Generator<Wake> {
  for (const key of facts.awaitingPlace.get(true))
    yield { controller: 'placement', key, when: LOOK_AGAIN_MS };
  yield* wakesOfNewRoom(facts);
}

/** A configuration may have one more instance: of those who wait only drains make one for that. */
export function* wakesOfNewRoom(facts: WakeFacts): Generator<Wake> {
  for (const key of facts.draining.get(true)) yield { controller: 'drain', key, when: LOOK_AGAIN_MS };
}
