/**
 * The keys to look at when a record other than an instance's changes, or when the master's contact with a node changes.
 */
import type { Configuration, ConfigurationRecord } from '../../../src/model/configuration.js';
import type { ConfigurationHistory } from '../../../src/model/configuration-history.js';
import type { ExitRecord } from '../../../src/model/exit-record.js';
import type { NodeRecord } from '../../../src/model/node.js';
import { type RolloutRecord, revisionForNew } from '../../../src/model/rollout.js';
import type { Timetable } from '../../../src/model/schedule.js';
import { PREFIX, revisionKey } from '../../../src/store/keys.js';
import { waitingGroupOf } from '../waiting/groups.js';
import { wakesOfCount, wakesOfNewPlace, wakesOfWaits } from './shared-wakes.js';
import type { Change, Wake, WakeFacts } from './wake.js';

/**
 * A revision and its configuration are written together, but the configuration's mirror may show the write a moment
 * later.
 */
const LOOK_FOR_USE_MS = 50;
/** Many instances may end together: count their ends once. */
const COUNT_EXITS_MS = 1000;

export function* wakesOfConfiguration(
  { id, before, after }: Change<ConfigurationRecord>,
  facts: WakeFacts,
): Generator<Wake> {
  yield* wakesOfCount(id, facts, 'first');
  yield* wakesOfWaits(id, facts);
  if (after?.configuration.update !== undefined || facts.rollouts.get(id) !== undefined)
    yield { controller: 'rollout', key: id, when: 'first' };
  yield { controller: 'schedule', key: id, when: 'first' };
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

/** Wakes the cleanup of old ends: there may be too many. */
export function* wakesOfExit({ before, after }: Change<ExitRecord>): Generator<Wake> {
  if (before === undefined && after !== undefined)
    yield { controller: 'instance-cleanup', key: PREFIX.exits, when: COUNT_EXITS_MS };
}

export function* wakesOfRevision({ id, after }: Change<Configuration>, facts: WakeFacts): Generator<Wake> {
  if (after === undefined) return;
  for (const key of facts.instancesByRevision.get(id)) {
    const record = facts.instances.get(key)?.value;
    if (record !== undefined && waitingGroupOf(record) !== undefined)
      yield { controller: 'placement', key, when: 'first' };
  }
  // Look at the revision again: its last instance may have gone before the mirror showed the revision.
  yield { controller: 'instance-cleanup', key: revisionKey(id), when: LOOK_FOR_USE_MS };
}

export function* wakesOfNode({ id, before, after }: Change<NodeRecord>, facts: WakeFacts): Generator<Wake> {
  yield* wakesOfContact(id);
  if (before?.drain !== undefined || after?.drain !== undefined)
    yield { controller: 'drain', key: id, when: 'first' };
  yield* wakesOfNewPlace(facts);
  const isDrainNews = (before?.drain === undefined) !== (after?.drain === undefined);
  if (before?.condition !== after?.condition || isDrainNews)
    for (const [name] of facts.configurations.entries()) yield* wakesOfCount(name, facts, 0);
  // Wake the pairs of this node: a drain that was called off leaves pairs to resolve, and so may a node that
  // is back.
  for (const key of facts.replacements.keys())
    if (facts.instances.get(key)?.value.placement?.nodeId === id)
      yield { controller: 'replacement', key, when: 0 };
}

/** The wakes when the node connected, disconnected, said that it will be back, or beats again after a silence. */
export function* wakesOfContact(nodeId: string): Generator<Wake> {
  yield { controller: 'heartbeat', key: nodeId, when: 'first' };
}

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

export function* wakesOfTimetable({ id, before, after }: Change<Timetable>): Generator<Wake> {
  yield { controller: 'schedule', key: id, when: 'first' };
  if (before?.frozen?.at !== after?.frozen?.at) yield { controller: 'rollout', key: id, when: 'first' };
}

function revisionsOf(rollout: RolloutRecord | undefined): ReadonlySet<string> {
  return new Set(rollout === undefined ? [] : [rollout.to, ...(rollout.from === null ? [] : [rollout.from])]);
}

function contentOf(rollout: RolloutRecord | undefined): string | undefined {
  return rollout === undefined ? undefined : revisionForNew(rollout);
}
