/** The wakes of a change of a rollout's record. */
import { type RolloutRecord, revisionForNew } from '../../../src/model/rollout.js';
import { revisionKey } from '../../../src/store/keys.js';
import type { Change, Wake, WakeFacts } from './wake.js';

export function* wakesOfRollout(
  { id, before, after }: Change<RolloutRecord>,
  facts: WakeFacts,
): Generator<Wake> {
  yield { controller: 'rollout', key: id, when: 'first' };
  for (const hash of revisionsOf(before))
    if (!revisionsOf(after).has(hash))
      yield { controller: 'instance-cleanup', key: revisionKey(hash), when: 0 };
  const isOtherContent = contentOf(before) !== contentOf(after);
  const isOtherState = before?.state !== after?.state;
  if (!isOtherContent && !isOtherState) return;
  for (const key of facts.instancesByConfiguration.get(id)) {
    if (isOtherContent) yield { controller: 'content', key, when: 'first' };
    // When a rollout has ended, the replacement controller resolves its pairs.
    if (isOtherState && facts.replacements.get(key).size > 0)
      yield { controller: 'replacement', key, when: 0 };
  }
}

function revisionsOf(rollout: RolloutRecord | undefined): ReadonlySet<string> {
  return new Set(rollout === undefined ? [] : [rollout.to, ...(rollout.from === null ? [] : [rollout.from])]);
}

function contentOf(rollout: RolloutRecord | undefined): string | undefined {
  return rollout === undefined ? undefined : revisionForNew(rollout);
}
