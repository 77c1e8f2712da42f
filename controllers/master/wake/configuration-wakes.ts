/** The wakes of a change of a configuration, or of the content of a revision. */
import type { Configuration, ConfigurationRecord } from '../../../src/model/configuration.js';
import type { ConfigurationHistory } from '../../../src/model/configuration-history.js';
import { revisionKey } from '../../../src/store/keys.js';
import { waitingGroupOf } from '../waiting/groups.js';
import { wakesOfCount } from './shared-wakes.js';
import type { Change, Wake, WakeFacts } from './wake.js';

/**
 * A revision and its configuration are written together, but the configuration's mirror may show the write a moment
 * later.
 */
const LOOK_FOR_USE_MS = 50;

export function* wakesOfConfiguration(
  { id, before, after }: Change<ConfigurationRecord>,
  facts: WakeFacts,
): Generator<Wake> {
  yield* wakesOfCount(id, facts, 'first');
  if (after?.configuration.update !== undefined || facts.rollouts.get(id) !== undefined)
    yield { controller: 'rollout', key: id, when: 'first' };
  if (after !== undefined && before?.hash !== after.hash)
    for (const key of facts.instancesByConfiguration.get(id))
      yield { controller: 'content', key, when: 'first' };
  if (before !== undefined && before.hash !== after?.hash)
    yield { controller: 'instance-cleanup', key: revisionKey(before.hash), when: 0 };
  for (const key of facts.draining.get(true)) yield { controller: 'drain', key, when: 0 };
}

/** Wakes the cleanup of a content that left the history: it may be unused now. */
export function* wakesOfHistory({ before, after }: Change<ConfigurationHistory>): Generator<Wake> {
  const kept = new Set(after?.contents.map(({ revision }) => revision));
  for (const { revision } of before?.contents ?? [])
    if (!kept.has(revision)) yield { controller: 'instance-cleanup', key: revisionKey(revision), when: 0 };
}

export function* wakesOfRevision({ id, after }: Change<Configuration>, facts: WakeFacts): Generator<Wake> {
  if (after === undefined) return;
  for (const key of facts.instancesByRevision.get(id)) {
    const record = facts.instances.get(key)?.value;
    if (record !== undefined && waitingGroupOf(record) !== undefined)
      yield { controller: 'placement', key, when: 'first' };
  }
  // The last instance with this revision may have gone before the mirror showed the revision.
  yield { controller: 'instance-cleanup', key: revisionKey(id), when: LOOK_FOR_USE_MS };
}
