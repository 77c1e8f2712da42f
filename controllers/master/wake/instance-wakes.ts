/** The wakes of a change of an instance's record. */
import { portsOf } from '../../../src/model/fields/ports.js';
import { standingOf } from '../../../src/model/fields/waits-for.js';
import { hasEndedByItself, hasPlayers, type InstanceRecord, isAtRest } from '../../../src/model/instance.js';
import { isSameValue } from '../../../src/model/plain/same-value.js';
import { instanceKey, revisionKey } from '../../../src/store/keys.js';
import { waitingGroupOf } from '../waiting/groups.js';
import {
  wakesOfCount,
  wakesOfNewPlace,
  wakesOfNewRoom,
  wakesOfPlaces,
  wakesOfWaits,
} from './shared-wakes.js';
import type { Change, Wake, WakeFacts } from './wake.js';

/** All changes within this time cause one count of the configuration's instances. */
const COUNT_AGAIN_MS = 20;

export function* wakesOfInstance(change: Change<InstanceRecord>, facts: WakeFacts): Generator<Wake> {
  const { id, before, after } = change;
  const record = after ?? before;
  if (record === undefined) {
    yield* wakesOfSetAside(facts);
    return;
  }
  if (mayChangeCount(change) || mayEndSurplus(change, facts))
    yield* wakesOfCount(record.configurationName, facts, COUNT_AGAIN_MS);
  if (before !== undefined && before.revision !== after?.revision)
    yield { controller: 'instance-cleanup', key: revisionKey(before.revision), when: 0 };
  if (after?.desired.goal === 'remove' || after?.job !== undefined)
    yield { controller: 'instance-cleanup', key: instanceKey(id), when: 0 };
  if (after !== undefined && waitingGroupOf(after) !== undefined)
    yield { controller: 'placement', key: id, when: 'first' };
  if (after !== undefined && standsOnLostNode(after, facts))
    yield { controller: 'heartbeat', key: after.placement?.nodeId ?? '', when: 0 };
  if (mayTakeContent(change, facts)) yield { controller: 'content', key: id, when: 0 };
  if (concernsRollout(change, record.configurationName, facts))
    yield { controller: 'rollout', key: record.configurationName, when: COUNT_AGAIN_MS };
  for (const key of drainsOf(change, facts)) yield { controller: 'drain', key, when: 0 };
  for (const key of originalsOf(change, facts)) yield { controller: 'replacement', key, when: 0 };
  if (standingOf(before) !== standingOf(after)) yield* wakesOfWaits(record.configurationName, facts);
  if (freesPlace(change)) yield* wakesOfNewPlace(facts);
  else if (takesMore(change)) yield* wakesOfPlaces(facts);
  else if (before?.desired.goal === 'run' && after?.desired.goal !== 'run') yield* wakesOfNewRoom(facts);
}

/**
 * The wakes when a record is set aside, or when a record that was set aside is gone. The rule does not read
 * what the record holds, so it wakes every configuration.
 */
function* wakesOfSetAside(facts: WakeFacts): Generator<Wake> {
  for (const [name] of facts.configurations.entries()) yield* wakesOfCount(name, facts, COUNT_AGAIN_MS);
  yield* wakesOfNewPlace(facts);
}

/**
 * True when the instance may be due to take the content in force. A change of players alone matters only for
 * an instance with `updateWhenEmpty`.
 */
function mayTakeContent({ before, after }: Change<InstanceRecord>, facts: WakeFacts): boolean {
  if (after === undefined) return false;
  if (after.desired.updateWhenEmpty === true) return true;
  const inForce = facts.configurations.get(after.configurationName)?.value;
  if (inForce === undefined || inForce.hash === after.revision) return false;
  return (
    before === undefined ||
    before.revision !== after.revision ||
    (before.placement === null) !== (after.placement === null) ||
    before.status.pid !== after.status.pid ||
    before.status.state !== after.status.state ||
    before.status.reason !== after.status.reason ||
    before.status.message !== after.status.message
  );
}

/**
 * True when a rollout may go on. A rollout that follows templates also needs to know of a new place, because
 * the place names the templates.
 */
function concernsRollout(
  { before, after }: Change<InstanceRecord>,
  name: string,
  { rollingOut, followingTemplates }: WakeFacts,
): boolean {
  if (rollingOut.get(true).has(name)) return true;
  return before?.placement == null && after?.placement != null && followingTemplates.get(true).has(name);
}

/** True when minimum-service may count one more or one less. */
function mayChangeCount({ before, after }: Change<InstanceRecord>): boolean {
  return (
    before === undefined ||
    after === undefined ||
    before.desired.goal !== after.desired.goal ||
    before.status.state !== after.status.state ||
    before.status.awaitsReport !== after.status.awaitsReport ||
    before.placement?.nodeId !== after.placement?.nodeId ||
    hasEndedByItself(before) !== hasEndedByItself(after) ||
    // A replacement counts against the maximum while it is used.
    (after.replaces !== undefined && isUsed(before) !== isUsed(after))
  );
}

/**
 * True when a change of players may end a surplus instance. Surplus of a lowered minimum, or of a configuration that is
 * gone, ends when its players leave. If players come, minimum-service may choose another.
 */
function mayEndSurplus({ before, after }: Change<InstanceRecord>, { configurations }: WakeFacts): boolean {
  if (before === undefined || after === undefined) return false;
  const configuration = configurations.get(after.configurationName)?.value.configuration;
  return (
    (configuration === undefined || configuration.surplus === 'remove') &&
    hasPlayers(before) !== hasPlayers(after)
  );
}

function isUsed({ status }: InstanceRecord): boolean {
  return (status.players ?? 0) > 0;
}

/**
 * True for a wanted instance on a lost node that is not marked as lost. Placement has just put it there, or a
 * client has reported another state.
 */
function standsOnLostNode({ desired, placement, status }: InstanceRecord, { nodes }: WakeFacts): boolean {
  if (placement === null || desired.goal !== 'run' || status.reason === 'node-lost') return false;
  return status.state !== 'STOPPED' && nodes.get(placement.nodeId)?.value.condition === 'lost';
}

/** The draining nodes that hold the instance, its original, or a replacement of it. */
function drainsOf(change: Change<InstanceRecord>, facts: WakeFacts): Iterable<string> {
  const draining = facts.draining.get(true);
  if (draining.size === 0) return draining;
  const concerned = new Set<string>();
  const { id, before, after } = change;
  const nodeOf = (other: string | undefined): string | undefined =>
    facts.instances.get(other ?? '')?.value.placement?.nodeId;
  const nodes = [
    before?.placement?.nodeId,
    after?.placement?.nodeId,
    nodeOf(after?.replaces ?? before?.replaces),
    ...[...facts.replacements.get(id)].map(nodeOf),
  ];
  for (const nodeId of nodes) if (nodeId !== undefined && draining.has(nodeId)) concerned.add(nodeId);
  return concerned;
}

/** The originals of the pairs that the instance belongs to, or belonged to until this change. */
function originalsOf({ id, before, after }: Change<InstanceRecord>, facts: WakeFacts): string[] {
  if (after === undefined) return [];
  const replaced = after.replaces ?? before?.replaces;
  const originals = replaced === undefined ? [] : [replaced];
  return facts.replacements.get(id).size > 0 ? [...originals, id] : originals;
}

/** True when less RAM or CPU is free, so that the message of a waiting instance may change. */
function takesMore({ before, after }: Change<InstanceRecord>): boolean {
  if (after?.placement == null) return false;
  return before?.placement == null || after.ramMB > before.ramMB || after.cpu > before.cpu;
}

/** True when RAM, CPU or a port came free, for which another instance may wait. */
function freesPlace({ before, after }: Change<InstanceRecord>): boolean {
  if (before?.placement == null) return false;
  return (
    after === undefined ||
    after.placement?.nodeId !== before.placement.nodeId ||
    !isSameValue(portsOf(after.placement), portsOf(before.placement)) ||
    after.ramMB < before.ramMB ||
    after.cpu < before.cpu ||
    (isAtRest(after) && !isAtRest(before))
  );
}
