/**
 * The result of a wake rule, and the state that a rule may read. A rule only says which keys of which controllers a
 * change concerns. `register.ts` carries wakes out.
 */

import { awaitsFirstStart, type InstanceRecord, isAtRest } from '../../../src/model/instance.js';
import { hasEnded } from '../../../src/model/rollout.js';
import type { MasterState, StateRecords } from '../../../src/state/master-state.js';
import type { LookupReader } from '../../../src/store/lookup.js';
import { waitingGroupOf } from '../waiting/groups.js';

export type ControllerName =
  | 'minimum-service'
  | 'placement'
  | 'waiting'
  | 'heartbeat'
  | 'drain'
  | 'replacement'
  | 'instance-cleanup'
  | 'content'
  | 'rollout'
  | 'notice'
  | 'schedule';

export interface Wake {
  readonly controller: ControllerName;
  readonly key: string;
  readonly when: When;
}

/**
 * When the key runs. `first`: before others, and its failures are forgotten. A number: after so many ms, once
 * for all wakes until then.
 */
export type When = 'first' | number;

/**
 * `before` undefined: the record is new. `after` undefined: it was removed or set aside. Both undefined: a record that
 * was set aside is gone, or has become unreadable again.
 */
export interface Change<T> {
  readonly id: string;
  readonly before: T | undefined;
  readonly after: T | undefined;
}

/** Mirrors and lookups of the master's state. Each answers at once, however many instances there are. */
export interface WakeFacts extends StateRecords {
  /** The instances that wait for a node or another port, by `waitingGroupOf`. */
  readonly awaitingPlace: LookupReader<string>;
  /**
   * Instances that may lack the content in force because their node has no room for it, looked up by the instance's
   * revision.
   */
  readonly awaitingContent: LookupReader<string>;
  /** The contents that wait for a configuration, by its name. */
  readonly waitingContents: LookupReader<string>;
  /** The nodes that are being drained, under the key `true`. Their instances wait for places, too. */
  readonly draining: LookupReader<true>;
  /** The configurations whose rollouts move instances, or may do so, under the key `true`. */
  readonly rollingOut: LookupReader<true>;
  /** The configurations whose rollouts treat a changed template as a new content, under the key `true`. */
  readonly followingTemplates: LookupReader<true>;
}

/** The key of the instance's waiting group, or none. */
function waitingGroupsOf(record: InstanceRecord): readonly string[] {
  const group = waitingGroupOf(record);
  return group === undefined ? [] : [group];
}

/**
 * The revision of an instance that may wait for room on its node; none if it does not wait. Only an instance
 * that a node holds needs room for another content there.
 */
function revisionsToLeave(record: InstanceRecord): readonly string[] {
  if (record.placement === null || isAtRest(record)) return [];
  const isDue = record.desired.updateWhenEmpty === true || awaitsFirstStart(record);
  return isDue ? [record.revision] : [];
}

/** Follows the state until `until` aborts. */
export function wakeFactsOf(state: MasterState, until?: AbortSignal): WakeFacts {
  return {
    ...state,
    awaitingPlace: state.instances.lookup(waitingGroupsOf, until),
    awaitingContent: state.instances.lookup(revisionsToLeave, until),
    waitingContents: state.revisions.lookup(
      ({ waitsFor = [] }) => waitsFor.map(({ configuration }) => configuration),
      until,
    ),
    draining: state.nodes.lookup(({ drain }) => (drain === undefined ? [] : [true]), until),
    rollingOut: state.rollouts.lookup(
      (rollout) => (hasEnded(rollout) && rollout.state !== 'failed' ? [] : [true]),
      until,
    ),
    followingTemplates: state.configurations.lookup(
      ({ configuration }) => (configuration.update?.templates === true ? [true] : []),
      until,
    ),
  };
}
