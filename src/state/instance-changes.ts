/**
 * The record of a new instance, and all its changes except the node's reports (`StatusIntake`), as pure functions. Who
 * may write which state, reason and message:
 *
 * ```
 *  creation, start at rest   CREATING, no reason
 *  placement                 no-node-fits, template-missing or waits-for while there is no place; no reason with a place
 *  heartbeat                 OFFLINE, node-lost; back: ONLINE or CREATING, no reason, only where the reason is node-lost
 *  PUT state                 what the app says, reported
 *  stop without a place      STOPPED, stopped
 *  report of the node        any state with a reason of the node's
 * ```
 *
 * `InstanceWriter` writes what clients ask for, the placement and the heartbeat controller what they decide.
 */
import type { Configuration } from '../model/configuration.js';
import {
  hasFinished,
  type InstancePlacement,
  type InstanceRecord,
  type InstanceState,
  type InstanceStatus,
  isAtRest,
  type Maker,
  type Reason,
  type StoredStatus,
  statusOf,
  withEnd,
  withRest,
} from '../model/instance.js';

export type LifecycleTarget = 'start' | 'stop' | 'restart';

/** The body of `PUT state`. */
export interface StateReport {
  readonly state: InstanceState;
  readonly lastHeartbeat?: number | undefined;
  readonly players?: number | undefined;
  readonly maxPlayers?: number | undefined;
  readonly tps?: number | undefined;
}

/** The record after a lifecycle request; undefined: the request changes nothing. */
export const LIFECYCLE: Readonly<
  Record<LifecycleTarget, (record: InstanceRecord, isAway: boolean) => InstanceRecord | undefined>
> = { start, stop, restart };

/** The content of a configuration that an instance is made from, and the hash of that content. */
export interface InstanceContent {
  readonly configuration: Configuration;
  readonly hash: string;
  /** The generation of the configuration's rollout; default 0. */
  readonly generation?: number;
}

/** The record of a new instance, without a place. `now` in Unix milliseconds. */
export function newInstance(
  content: InstanceContent,
  { id, madeBy, now }: { readonly id: string; readonly madeBy: Maker; readonly now: number },
): InstanceRecord {
  const { configuration, hash: revision, generation = 0 } = content;
  const { name: configurationName, runtime, static: isStatic, ramMB, cpu } = configuration;
  // One literal without spreads: spreads make a record several times slower, also to serialise.
  const record: InstanceRecord = {
    id,
    configurationName,
    revision,
    runtime,
    static: isStatic,
    ramMB,
    cpu,
    createdAt: now,
    madeBy,
    desired: { goal: 'run', restartToken: 0 },
    placement: null,
    home: null,
    status: statusOf(NEW_STATUS, { lastHeartbeat: now }),
  };
  if (generation > 0) record.generation = generation;
  return record;
}

function contentFields({ configuration, hash }: InstanceContent) {
  const { runtime, static: isStatic, ramMB, cpu } = configuration;
  return { revision: hash, runtime, static: isStatic, ramMB, cpu };
}

function generationField({ generation = 0 }: InstanceContent) {
  return generation > 0 ? { generation } : {};
}

/**
 * The record with a content that needs no restart: a running process goes on. RAM and CPU stay: they are those of the
 * content before, or more while a former run holds them until its node reports its end.
 */
export function withLiveContent(record: InstanceRecord, content: InstanceContent): InstanceRecord {
  return { ...record, revision: content.hash, desired: withoutAsking(record.desired) };
}

// The next two functions copy only what they change: a plan asks for thousands of records.

function withoutAsking(desired: InstanceRecord['desired']): InstanceRecord['desired'] {
  if (desired.updateWhenEmpty === undefined) return desired;
  const { updateWhenEmpty: _asked, ...others } = desired;
  return others;
}

function neverReady(status: InstanceStatus): InstanceStatus {
  if (!status.hasBeenReady && status.upAt === undefined) return status;
  return statusOf(status, { hasBeenReady: false, upAt: undefined });
}

/** The record with another content, which its next start takes. */
export function withContent(record: InstanceRecord, content: InstanceContent): InstanceRecord {
  const { desired, status } = record;
  const next = {
    ...record,
    ...contentFields(content),
    ...generationField(content),
    desired: withoutAsking(desired),
    status: neverReady(status),
  };
  if (next.outdated !== undefined) delete next.outdated;
  return next;
}

/**
 * The record, which has a new content already, at the place that was chosen for that content. A wanted instance is
 * restarted with it.
 */
export function withContentAt(record: InstanceRecord, placement: InstancePlacement): InstanceRecord {
  const next = record.desired.goal === 'run' ? again(record) : record;
  const { status } = next;
  const isDown = status.pid === null;
  const placed = withPlace(next, placement);
  // While no process runs, a reason such as a busy port came from the old content: forget it. A running process keeps
  // its status.
  return isDown ? placed : { ...placed, status };
}

/** Why an instance has no place yet. */
export interface NoPlace {
  readonly reason: Extract<Reason, 'no-node-fits' | 'template-missing' | 'waits-for'>;
  readonly message: string;
}

/** The record of an instance that waits for a place. */
export function withoutPlace(record: InstanceRecord, { reason, message }: NoPlace): InstanceRecord {
  return { ...record, status: statusOf(record.status, { reason, message }) };
}

/** The record with a place, or with another port. The reason and message of the earlier place are dropped. */
export function withPlace(record: InstanceRecord, placement: InstancePlacement): InstanceRecord {
  const { hostAddress: _address, templates: _templates, ...home } = placement;
  return {
    ...record,
    placement,
    home,
    status: statusOf(record.status, { reason: null, message: null }),
  };
}

/**
 * The record after its node was lost. Undefined: nothing changes, because the instance is on another node, not
 * wanted, STOPPED, or marked already.
 */
export function withNodeLost(record: InstanceRecord, nodeId: string): InstanceRecord | undefined {
  const { placement, desired, status } = record;
  if (placement?.nodeId !== nodeId || desired.goal !== 'run') return undefined;
  if (status.reason === 'node-lost' || status.state === 'STOPPED') return undefined;
  const message = `its node ${nodeId} sends no beats`;
  return { ...record, status: { ...status, state: 'OFFLINE', reason: 'node-lost', message } };
}

/**
 * The record when the lost node is back: without the mark, and ONLINE or CREATING again. From then on the master
 * awaits the node's report, which brings the rest. Undefined: the record has no mark, or the instance is on another
 * node.
 */
export function withNodeBack(record: InstanceRecord, nodeId: string): InstanceRecord | undefined {
  const { placement, status } = record;
  if (placement?.nodeId !== nodeId || status.reason !== 'node-lost') return undefined;
  const state = status.pid === null ? 'CREATING' : 'ONLINE';
  return { ...record, status: { ...status, state, reason: null, message: null, awaitsReport: true } };
}

export function withGoal(record: InstanceRecord, goal: InstanceRecord['desired']['goal']): InstanceRecord {
  const before = withRest(record);
  return { ...before, desired: { ...before.desired, goal } };
}

/**
 * The record after an app or a tool has reported a state. A report of STOPPED also sets the goal of a wanted instance
 * to `stop`.
 */
export function reported(before: InstanceRecord, report: StateReport, now: number): InstanceRecord {
  const record = withRest(before);
  const { state } = report;
  const { status: last } = record;
  const { reason, message } = state === last.state ? last : whyReported(record, state);
  const status = statusOf(last, {
    state,
    reason,
    message,
    hasBeenReady: state === 'ONLINE' || last.hasBeenReady,
    lastHeartbeat: now,
    saidHeartbeat: report.lastHeartbeat,
    players: report.players ?? last.players,
    countsPlayers: report.players === undefined ? last.countsPlayers : true,
    maxPlayers: report.maxPlayers ?? last.maxPlayers,
    tps: report.tps ?? last.tps,
  });
  const next = { ...record, status };
  if (state !== 'STOPPED' || record.desired.goal !== 'run') return next;
  return withEnd({ ...next, desired: { ...next.desired, goal: 'stop', stoppedBy: 'instance' } }, now);
}

/** Reason and message of a reported state. They say so where nothing of the instance runs, whatever was reported. */
function whyReported(
  record: InstanceRecord,
  state: InstanceState,
): Pick<InstanceStatus, 'reason' | 'message'> {
  const said = `reported ${state} by the instance or a tool`;
  const [reason, truth] = idlenessOf(record);
  return truth === undefined || state === 'STOPPED'
    ? { reason: 'reported', message: said }
    : { reason, message: `${said}, but nothing of it runs: it ${truth}` };
}

/** Why nothing of an instance can run, as a reason and in words; no words: something may run. */
function idlenessOf(record: InstanceRecord): readonly [Reason, truth?: string] {
  if (hasFinished(record)) return ['exited', 'has ended'];
  if (isAtRest(record)) return ['stopped', 'is stopped'];
  const reason = record.status.reason ?? 'reported';
  return record.placement === null ? [reason, 'waits for a node'] : [reason];
}

/**
 * Starts an instance. A wanted instance that is up, or whose node is away (`isAway`), stays as it is. That node
 * restarts the process if need be, and a raised token would restart a healthy process.
 */
function start(record: InstanceRecord, isAway: boolean): InstanceRecord | undefined {
  if (isAtRest(record)) return freshStart(record);
  const isUp = record.desired.goal === 'run' && (isAway || record.status.state !== 'OFFLINE');
  return isUp ? undefined : again(record);
}

function restart(record: InstanceRecord): InstanceRecord {
  return isAtRest(record) ? freshStart(record) : again(record);
}

function stop(record: InstanceRecord): InstanceRecord | undefined {
  if (record.desired.goal === 'stop') return undefined;
  const next = withGoal(record, 'stop');
  // No node holds the instance, so no report will say that it is stopped: set that here.
  return record.placement === null
    ? { ...next, status: { ...next.status, state: 'STOPPED', reason: 'stopped', message: null } }
    : next;
}

/**
 * Ends the running process, if there is one, and starts the instance anew on the same node. An instance that was
 * stopped or at rest then counts as made by a client, and replaces nothing. The enforcer may have made another one
 * meanwhile, and no controller ends a client's instance.
 */
function again(record: InstanceRecord): InstanceRecord {
  const { restartToken, updateWhenEmpty } = record.desired;
  const desired: InstanceRecord['desired'] = {
    goal: 'run',
    restartToken: restartToken + 1,
    ...(updateWhenEmpty !== undefined && { updateWhenEmpty }),
  };
  const status: InstanceStatus = { ...record.status, awaitsRestart: true };
  if (!isAtRest(record) && record.desired.goal !== 'stop') return { ...record, desired, status };
  const { replaces: _replaces, ...own } = record;
  return { ...own, madeBy: 'client', desired, status };
}

/**
 * Starts an instance at rest. The instance gave its RAM back, so placement must place it again; a static instance
 * returns to its own node.
 */
function freshStart(record: InstanceRecord): InstanceRecord {
  const next = again(record);
  const { endedAt: _endedAt, ...before } = next.status;
  const status: InstanceStatus = { ...before, state: 'CREATING', reason: null, message: null };
  return { ...next, placement: null, status };
}

/** The record of a run that is ended at its time-out. */
export function timedOut(record: InstanceRecord): InstanceRecord {
  return withGoal({ ...record, desired: { ...record.desired, stoppedBy: 'timeout' } }, 'stop');
}

const NEW_STATUS: StoredStatus = {
  state: 'CREATING',
  reason: null,
  message: null,
  pid: null,
  restarts: 0,
  exitCode: null,
  exitSignal: null,
  lastHeartbeat: 0,
  players: null,
  maxPlayers: null,
  tps: null,
  hasBeenReady: false,
  gone: false,
};
