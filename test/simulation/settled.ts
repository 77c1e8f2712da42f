/** Lists what a fleet lacks of its desired state, one line each; none when it is settled. */
import { z } from 'zod';
import { MOST_ENDED } from '../../controllers/master/instance-cleanup/plan.js';
import { hashConfiguration } from '../../src/model/configuration.js';
import { isMetBy, type Wait } from '../../src/model/fields/waits-for.js';
import { hasEndedByItself, hasFinished, type InstanceRecord, saidOf } from '../../src/model/instance.js';
import { isRestarted } from '../../src/model/stopping.js';
import { PREFIX } from '../../src/store/keys.js';
import type { Fleet } from './fleet.js';
import { programOf } from './machine/program.js';

/** A handle of an instance that ended without being asked to. */
const endedSchema = z.object({
  hasEnded: z.literal(true),
  hasFinished: z.boolean(),
  restartToken: z.int(),
  exit: z.object({ code: z.int().nullable(), signal: z.string().nullable(), at: z.number() }),
});

export function unsettledOf(fleet: Fleet): string[] {
  const master = fleet.master?.master;
  if (master === undefined || fleet.master?.isReady !== true) return ['the master is not ready'];
  return [
    ...instancesOf(fleet),
    ...servicesOf(fleet),
    ...waitsOf(fleet),
    ...runsOf(fleet),
    ...surplusOf(fleet),
    ...endedOf(fleet),
    ...nodesOf(fleet),
    ...recordsOf(fleet),
    ...followersOf(fleet),
  ];
}

function* instancesOf(fleet: Fleet): Generator<string> {
  const { book } = fleet.invariants;
  for (const record of book.instances.values()) yield* instanceOf(fleet, record);
  for (const id of fleet.invariants.liveIds)
    if (!book.instances.has(id) && !isLeftAlone(fleet, id)) yield `${id} runs and has no record`;
}

function* instanceOf(fleet: Fleet, record: InstanceRecord): Generator<string> {
  const { id, desired, placement, status } = record;
  const said = `${id} ${desired.goal}/${desired.restartToken} on ${placement?.nodeId}: ${status.state} ${status.reason} ${status.message}`;
  const isLost = placement !== null && fleet.machines.get(placement.nodeId)?.isGone === true;
  if (isLost) {
    const isMarked = status.state === 'OFFLINE' || isReported(status);
    if (desired.goal === 'run' && status.state !== 'STOPPED' && !isMarked)
      yield `${said}, and its node is lost`;
    return;
  }
  const node = fleet.invariants.nodeOf(id);
  const isUp = desired.goal === 'run' && placement !== null && !hasFinished(record) && canRun(fleet, record);
  if (desired.goal === 'remove') yield `${said}, and should be gone`;
  if (isUp && node !== placement.nodeId) yield `${said}, and has no process there`;
  if (!isUp && node !== undefined) yield `${said}, and runs on ${node}`;
  if (!isReported(status) && !isTrue(fleet, record, isUp)) yield `${said}, which is not so`;
  const asked = fleet.invariants.book.revisions.get(record.revision)?.ramMB;
  if (record.ramMB !== asked) yield `${said}, and holds ${record.ramMB} MB, not ${asked} MB`;
}

/** Shown as an app or a tool has put it. At rest the reason still says why nothing runs. */
function isReported({ reason, message }: InstanceRecord['status']): boolean {
  return reason === 'reported' || message?.startsWith('reported ') === true;
}

/** `waits-for` is judged by `waitsOf`. */
const UNPLACED = ['no-node-fits', 'template-missing', 'waits-for'];

/** Whether the record says what is. What an app has said of itself stands until something happens. */
function isTrue(fleet: Fleet, record: InstanceRecord, isUp: boolean): boolean {
  const { desired, placement, status } = record;
  if (hasFinished(record)) return true;
  if (desired.goal === 'stop') return status.state === 'STOPPED' && status.pid === null;
  if (placement === null) return status.pid === null && UNPLACED.includes(status.reason ?? '');
  if (!isUp) return status.reason === 'template-missing' && status.pid === null;
  const isOnline = status.state === 'ONLINE' && status.reason === null && status.pid !== null;
  if (!isNeverReady(fleet, record)) return isOnline;
  // What was ONLINE before the content asked for a line stays so.
  if (isOnline && fleet.invariants.isRefitted(record.id)) return true;
  return status.state !== 'ONLINE' && status.reason === 'not-ready' && status.pid !== null;
}

/** Its program never says the line that its configuration waits for. */
function isNeverReady(fleet: Fleet, { revision }: InstanceRecord): boolean {
  const configuration = fleet.invariants.book.revisions.get(revision);
  if (configuration?.readiness === undefined) return false;
  return programOf(configuration.command).readyAfterMs === null;
}

/** Templates may be gone for good; what runs with a removed one goes on. */
function canRun(fleet: Fleet, record: InstanceRecord): boolean {
  const { id, placement } = record;
  if (fleet.invariants.nodeOf(id) !== undefined) return true;
  // Its record may say something else: whatever an app or a tool has put.
  if (hasEndedForGood(fleet, record)) return false;
  return (placement?.templates ?? []).every(({ name }) => fleet.templates.digestOf(name) !== null);
}

/** By what its node keeps of it. */
function hasEndedForGood(fleet: Fleet, { id, placement, revision, desired }: InstanceRecord): boolean {
  const kept = fleet.machines.get(placement?.nodeId ?? '')?.disk.entries.get(`handles/${id}`)?.value;
  const { data: handle } = endedSchema.safeParse(kept);
  if (handle === undefined || handle.restartToken !== desired.restartToken) return false;
  return (
    handle.hasFinished ||
    !isRestarted(fleet.invariants.book.revisions.get(revision)?.restartPolicy, handle.exit)
  );
}

/** What waits for others says for which, what does not need to wait does not, and `why` says the same. */
function* waitsOf(fleet: Fleet): Generator<string> {
  const { instances, revisions } = fleet.invariants.book;
  const isMet = (wait: Wait): boolean =>
    [...instances.values()].some(
      (other) => other.configurationName === wait.configuration && isMetBy(wait, other),
    );
  for (const { id, home, placement, desired, status, revision } of instances.values()) {
    if (placement !== null || desired.goal !== 'run') continue;
    const unmet = home === null ? (revisions.get(revision)?.waitsFor ?? []).filter((one) => !isMet(one)) : [];
    const said = `${id} is ${status.reason} (${status.message})`;
    if (unmet.length > 0 !== (status.reason === 'waits-for')) yield `${said}, and waits for ${unmet.length}`;
    const view = fleet.master?.master?.term?.controllers.decisions.placementOf(id);
    for (const { configuration } of unmet)
      if (![status.message ?? '', view?.waits.join() ?? ''].every((text) => text.includes(configuration)))
        yield `${said}, and waits for ${configuration}`;
  }
}

/** Runs of jobs that have ended say how, have been started, and none goes on behind its time-out. */
function* runsOf(fleet: Fleet): Generator<string> {
  const { book } = fleet.invariants;
  for (const record of book.instances.values()) {
    const { id, job, desired, status } = record;
    if (job === undefined) continue;
    const started = fleet.invariants.startsOf(id);
    const isEnded = status.endedAt !== undefined;
    // A stop is a reason by itself; before the start of the program it leaves no exit.
    const isStopped = status.reason === 'stopped' && desired.goal === 'stop';
    const isTold = status.exitCode !== null || status.exitSignal !== null || saidOf(record).message !== null;
    if (isEnded && !isStopped && !isTold) yield `the run ${id} has ended, and nothing is said of how`;
    if (status.exitCode !== null && started === 0)
      yield `the run ${id} has an exit code, and was never started`;
    if (job.timeoutSeconds !== undefined && fleet.isOverdue(id, job.timeoutSeconds * 1000))
      yield `the run ${id} goes on behind its time-out`;
  }
}

function* servicesOf(fleet: Fleet): Generator<string> {
  const sources = fleet.master?.master?.metricSources();
  for (const { configuration: name, minimum } of sources?.minimums() ?? []) {
    const actual = sources?.actualOf(name) ?? 0;
    const maximum = fleet.files.get(name)?.maximumServiceCount ?? Number.POSITIVE_INFINITY;
    let wanted = 0;
    // An instance that keeps failing holds its slot, and `actualOf` leaves it out.
    let failing = 0;
    for (const record of fleet.invariants.book.instances.values()) {
      if (record.configurationName !== name || record.desired.goal !== 'run') continue;
      if (!isReplaced(fleet, record)) wanted++;
      if (record.status.keepsFailing === true) failing++;
    }
    if (actual + failing < Math.min(minimum, maximum)) yield `${actual} of ${minimum} ${name} stand`;
    if (wanted > maximum) yield `${wanted} of ${name} are wanted, ${maximum} allowed`;
  }
}

/**
 * The enforcer has made no more than was ever asked for, whatever was lost and came back. A used replacement may stand
 * beside another one of its family, and a drain has its own pace.
 */
function* surplusOf(fleet: Fleet): Generator<string> {
  const { invariants } = fleet;
  const { instances, nodes } = invariants.book;
  const standing = [...instances.values()].filter(
    (record) => record.desired.goal === 'run' && !isReplaced(fleet, record),
  );
  for (const name of invariants.book.configurations.keys()) {
    const made = standing.filter(
      (record) => record.configurationName === name && record.madeBy === 'enforcer',
    );
    const excused = standing.filter(({ configurationName, replaces, status }) => {
      if (configurationName !== name || replaces === undefined) return false;
      const nodeId = instances.get(replaces)?.placement?.nodeId ?? '';
      return (status.players ?? 0) > 0 || nodes.get(nodeId)?.drain !== undefined;
    });
    const most = invariants.mostWantedOf(name);
    if (made.length - excused.length > most)
      yield `the enforcer has made ${made.length} of ${name} (${made.map(({ id }) => id).join()}), ${most} were wanted`;
  }
}

/** What ended by itself holds no port, and there are few of it. */
function* endedOf(fleet: Fleet): Generator<string> {
  const kept = new Map<string, number>();
  for (const record of fleet.invariants.book.instances.values()) {
    if (!hasEndedByItself(record) || record.desired.goal === 'remove') continue;
    if (record.placement?.port != null)
      yield `${record.id} has ended and holds port ${record.placement.port}`;
    // A finished one may be what the minimum counts on.
    if (!hasFinished(record))
      kept.set(record.configurationName, (kept.get(record.configurationName) ?? 0) + 1);
  }
  for (const [name, count] of kept)
    if (count > MOST_ENDED) yield `${count} of ${name} have ended and are kept`;
}

/** It runs on a node that was forgotten and has not joined again. */
function isLeftAlone(fleet: Fleet, id: string): boolean {
  return fleet.network.shutOut.has(fleet.invariants.leftAloneOn(id) ?? '');
}

function isReplaced(fleet: Fleet, { placement }: InstanceRecord): boolean {
  return placement !== null && fleet.machines.get(placement.nodeId)?.isGone === true;
}

function* nodesOf(fleet: Fleet): Generator<string> {
  const { nodes, instances } = fleet.invariants.book;
  for (const { nodeId, isGone } of fleet.machines.values()) {
    const condition = nodes.get(nodeId)?.condition;
    const expected = isGone ? 'lost' : 'connected';
    // It may have left before it ever joined.
    if (fleet.network.shutOut.has(nodeId)) {
      if (condition !== undefined) yield `${nodeId} is ${condition}, and was to be forgotten`;
      continue;
    }
    if (condition !== expected && !(isGone && condition === undefined)) yield `${nodeId} is ${condition}`;
    const { wrapper, life, isStopping } = fleet.daemons.get(nodeId) ?? {};
    if (life?.isStalled === true) yield `${nodeId} stands still`;
    // It takes its time, and is started again when it has ended.
    if (isStopping === true) yield `${nodeId} is ending`;
    if (wrapper === undefined) continue;
    const due = [...instances.values()]
      .filter(({ placement }) => placement?.nodeId === nodeId)
      .map(({ id }) => id);
    const held = [...wrapper.inUse().instanceIds].toSorted();
    if (held.join() !== due.toSorted().join())
      yield `${nodeId} holds ${held.join()}, not ${due.toSorted().join()}`;
  }
}

/** The store is what the files say, nothing unused is kept, and the master's copies show what is on its disk. */
function* recordsOf(fleet: Fleet): Generator<string> {
  const { configurations, instances, revisions, histories, nodes } = fleet.invariants.book;
  const state = fleet.master?.master?.state;
  for (const [name, configuration] of fleet.files) {
    const held = configurations.get(name);
    if (held === undefined || hashConfiguration(held) !== hashConfiguration(configuration))
      yield `the file of ${name} is not in force`;
  }
  for (const name of configurations.keys()) if (!fleet.files.has(name)) yield `${name} has no file any more`;
  const used = new Set([...configurations.values()].map(hashConfiguration));
  for (const { revision } of instances.values()) used.add(revision);
  for (const { contents } of histories.values()) for (const { revision } of contents) used.add(revision);
  if ([...histories.keys()].some((name) => !configurations.has(name))) yield 'a history is left over';
  if ([...used].toSorted().join() !== [...revisions.keys()].toSorted().join())
    yield 'revisions are not those in use';
  yield* fleet.receiver.untold(fleet.state.entries);
  const stale =
    state?.instances.size !== instances.size ||
    state.nodes.size !== nodes.size ||
    state.revisions.size !== revisions.size;
  if (stale) yield 'the master does not show what is durable';
  for (const [key, { revision }] of fleet.state.entries)
    if (
      key.startsWith(PREFIX.instances) &&
      state?.instances.get(key.slice(PREFIX.instances.length))?.revision !== revision
    )
      yield `the master has another ${key} in mind`;
}

/** Every master is up, and has in memory what the leader has written. */
function* followersOf({ masters, daemons, invariants }: Fleet): Generator<string> {
  for (const nodeId of masters?.masterIds ?? []) {
    const state = daemons.get(nodeId)?.master?.state;
    const { instances, nodes } = invariants.book;
    if (state?.instances.size !== instances.size || state.nodes.size !== nodes.size)
      yield `${nodeId} does not follow the state`;
  }
}
