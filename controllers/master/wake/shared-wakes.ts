/** The wakes that more than one source of change asks for. */
import { configurationKey } from '../../../src/store/keys.js';
import { ALL_THAT_WAITS } from '../waiting/groups.js';
import type { Wake, WakeFacts, When } from './wake.js';

/** The delay before instances that wait for a place are looked at again, however much changed. */
const LOOK_AGAIN_MS = 50;

/** The wakes when the number of counted instances may have changed. Ended instances may then be collected, too. */
export function* wakesOfCount(name: string, facts: WakeFacts, when: When): Generator<Wake> {
  yield { controller: 'minimum-service', key: name, when };
  if (facts.endedByConfiguration.get(name).size > 1)
    yield { controller: 'instance-cleanup', key: configurationKey(name), when: when === 'first' ? 0 : when };
}

/** The wakes when a place may be free that was not free before. */
export function* wakesOfNewPlace(facts: WakeFacts): Generator<Wake> {
  yield* wakesOfPlaces(facts);
  yield* wakesOfNewRoom(facts);
  yield* wakesOfContents(facts);
}

/** The wakes when more or less is free: waiting instances may fit, or their message may change. */
export function* wakesOfPlaces({ awaitingPlace }: WakeFacts): Generator<Wake> {
  const { done } = awaitingPlace.keys().next();
  if (done !== true) yield { controller: 'waiting', key: ALL_THAT_WAITS, when: LOOK_AGAIN_MS };
}

/** The wakes when an answer to those that wait for a configuration (`waitsFor`) may have changed. */
export function* wakesOfWaits(name: string, facts: WakeFacts): Generator<Wake> {
  if (facts.waitingContents.get(name).size === 0) return;
  yield* wakesOfPlaces(facts);
  yield* wakesOfNewRoom(facts);
}

/** The wakes when templates appeared, changed or went. The rule does not ask which instance gets which template. */
export function* wakesOfTemplates(facts: WakeFacts): Generator<Wake> {
  for (const group of facts.awaitingPlace.keys())
    for (const key of facts.awaitingPlace.get(group))
      yield { controller: 'placement', key, when: LOOK_AGAIN_MS };
  yield* wakesOfNewRoom(facts);
  yield* wakesOfContents(facts);
  for (const key of facts.followingTemplates.get(true))
    yield { controller: 'rollout', key, when: LOOK_AGAIN_MS };
}

/** The wakes when a node may have become able to hold one of its instances with the content in force. */
function* wakesOfContents(facts: WakeFacts): Generator<Wake> {
  const { awaitingContent, instances, configurations, rollingOut } = facts;
  for (const revision of awaitingContent.keys()) {
    const ids = awaitingContent.get(revision);
    const [one = ''] = ids;
    const name = instances.get(one)?.value.configurationName ?? '';
    // Skip instances that have the content already. During a rollout do not skip: the content in force may be
    // the last good one.
    const hasIt = configurations.get(name)?.value.hash === revision && !rollingOut.get(true).has(name);
    if (!hasIt) for (const key of ids) yield { controller: 'content', key, when: LOOK_AGAIN_MS };
  }
}

/** The wakes when a configuration may have one more instance; drains and rollouts may wait for that. */
export function* wakesOfNewRoom(facts: WakeFacts): Generator<Wake> {
  for (const key of facts.draining.get(true)) yield { controller: 'drain', key, when: LOOK_AGAIN_MS };
  for (const key of facts.rollingOut.get(true)) yield { controller: 'rollout', key, when: LOOK_AGAIN_MS };
}
