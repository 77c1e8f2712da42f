/**
 * The instance: a declared process and what is known of it. The stored record groups its fields by writer (field table
 * in controllers/README.md); API clients see flat fields, as InstanceInfo.
 */
import { z } from 'zod';
import { jobOrderSchema } from './fields/job.js';
import { namedPortsSchema, portsOf, portsText } from './fields/ports.js';
import { instanceIdSchema, nameSchema, portSchema, shownInstanceId } from './names.js';
import { publicPid } from './run/run-identity.js';

/**
 * ```
 *            process up              crash / beats missed
 * CREATING ------------> ONLINE ----------------------------> OFFLINE
 *     ^                    |  <---- restarted / beats again ----  |
 *     | start              v stop                                 v stop
 *     +---------------- STOPPED <---------------------------------+
 * ```
 */
export const instanceStateSchema = z.enum(['CREATING', 'ONLINE', 'OFFLINE', 'STOPPED']);
export type InstanceState = z.output<typeof instanceStateSchema>;

/** The desired state: a running process, a stopped one that is kept, or no process and no record. */
export const goalSchema = z.enum(['run', 'stop', 'remove']);
export type Goal = z.output<typeof goalSchema>;

/** Why an instance does not run (yet), as a short stable code. `message` says it in words and numbers. */
export const reasonSchema = z.enum([
  'no-node-fits',
  'port-busy',
  'installing',
  'template-missing',
  'secret-missing',
  'waits-for',
  'install-failed',
  'starting',
  'not-ready',
  'not-alive',
  'start-failed',
  'exited',
  'stopping',
  'stopped',
  'removing',
  'node-lost',
  'node-stopped',
  'reported',
  'runtime-unavailable',
]);
export type Reason = z.output<typeof reasonSchema>;

/** The maker of an instance: `enforcer` made it for a minimum; `client` is a person or a tool. */
const makerSchema = z.enum(['enforcer', 'client']);
export type Maker = z.output<typeof makerSchema>;

export const desiredSchema = z.object({
  goal: goalSchema,
  /**
   * Why the goal is `stop`. `instance`: the program reported itself STOPPED. `timeout`: the run of a job took too long.
   * Absent: a client asked for the goal.
   */
  stoppedBy: z.enum(['instance', 'timeout']).optional(),
  /** A counter that every restart request raises. The wrapper restarts when it has not yet acted on this value. */
  restartToken: z.int().min(0),
  /** The instance takes the content in force as soon as it has no players. */
  updateWhenEmpty: z.literal(true).optional(),
});

const placedTemplateSchema = z.object({
  group: nameSchema,
  name: nameSchema,
  /** The storage that the template comes from. */
  storage: nameSchema,
  priority: z.int(),
});

export const placementSchema = z.object({
  nodeId: nameSchema,
  /** Port on the node, or null when the configuration asks for none. */
  port: portSchema.nullable(),
  /** The named ports, with those that are counted from the main one. Absent: none. */
  ports: namedPortsSchema.optional(),
  /** The configuration whose instances on the node share the main port. Absent: the port is its own. */
  sharedBy: nameSchema.optional(),
  /** Address that clients connect to. */
  hostAddress: z.string(),
  /** The templates of this instance, chosen once (oneOf and oneInGroups are decided here). */
  templates: z.array(placedTemplateSchema),
});

/** The templates that the working directory was made from, and when it was made or last brought up to them. */
const installedTemplatesSchema = z.object({
  /** Unix milliseconds, by the node's clock. */
  at: z.number(),
  templates: z.array(z.object({ group: nameSchema, name: nameSchema, digest: z.string().max(64) })),
});

/** The status in the form that records have on disk. */
export const storedStatusSchema = z.object({
  state: instanceStateSchema,
  reason: reasonSchema.nullable(),
  message: z.string().nullable(),
  /** A warning of the last install, for a person, such as a missing file. Absent: no warning. */
  warning: z.string().optional(),
  /** The templates of the present run, or of the last one. Absent: none, or the node has not said. */
  installed: installedTemplatesSchema.optional(),
  /** Null: nothing runs. NO_HOST_PID: a container runs, which has no process of its own on the node. */
  pid: z.int().nullable(),
  /**
   * With reason `port-busy`: the instance has files of its own, which may name its port. So it waits for that port.
   * Absent: it may have another port.
   */
  keepsPort: z.literal(true).optional(),
  /** With reason `port-busy`: the name of that port. Absent: not known. */
  busyPort: z.string().optional(),
  restarts: z.int().min(0),
  exitCode: z.int().nullable(),
  exitSignal: z.string().nullable(),
  /** When the state last changed or was last reported, Unix milliseconds. */
  lastHeartbeat: z.number(),
  /** The `lastHeartbeat` of the last PUT state, which clients see until a later sign of life. Absent: it had none. */
  saidHeartbeat: z.number().optional(),
  /**
   * The instance ended or could not be started twice in a row, and has not been up for a minute since. Also: its server
   * made itself a daemon, and is not started again. Absent: neither holds.
   */
  keepsFailing: z.literal(true).optional(),
  players: z.number().nullable(),
  maxPlayers: z.number().nullable(),
  tps: z.number().nullable(),
  /**
   * Whether the instance has been ready with the content that it has (`withFirstReadiness` of `src/channel/master/status-intake.ts`).
   */
  hasBeenReady: z.boolean(),
  /** When the master first heard of the process that runs, Unix milliseconds. Absent: none runs, or not known. */
  startedAt: z.number().optional(),
  /** When the run was first reported ONLINE, while `hasBeenReady` is false. Unix milliseconds. */
  upAt: z.number().optional(),
  /** The instance has said before how many players it has, so an unknown number does not mean none. Absent: never. */
  countsPlayers: z.literal(true).optional(),
  /** The node confirmed that process and working directory are gone (goal `remove`). */
  gone: z.boolean(),
  /** The instance's node was lost and is back, but has not reported the instance yet. */
  awaitsReport: z.literal(true).optional(),
  /** A restart was asked for, and the node has not yet reported the end of the earlier run. */
  awaitsRestart: z.literal(true).optional(),
  /**
   * When the instance ended by itself (`hasEndedByItself`). If its goal or state changed while it was at rest: the time
   * of its last heartbeat (`withRest`). Unix milliseconds by the master's clock. Removed when the instance runs again.
   */
  endedAt: z.number().optional(),
});

/** The process, or none. Only an instance without a process has ended, or is gone from its node. */
type ProcessStatus =
  | { pid: number; gone: false; endedAt?: undefined }
  | { pid: null; gone: boolean; endedAt?: number | undefined };

/** `upAt` exists only until the instance has been ready with its content. */
type FirstReadiness =
  | { hasBeenReady: true; upAt?: undefined }
  | { hasBeenReady: false; upAt?: number | undefined };

export type StoredStatus = z.output<typeof storedStatusSchema>;
export type InstanceStatus = Omit<StoredStatus, keyof ProcessStatus | keyof FirstReadiness> &
  ProcessStatus &
  FirstReadiness;

const homeSchema = placementSchema.pick({ nodeId: true, port: true, ports: true, sharedBy: true });

/** The record in its stored form. Readers take it through `instanceOf`. */
export const instanceRecordSchema = z.object({
  id: instanceIdSchema,
  configurationName: nameSchema,
  /** Hash of the configuration content that it was made from: key `revisions/<hash>`. */
  revision: z.string(),
  runtime: nameSchema,
  static: z.boolean(),
  ramMB: z.int().min(0),
  /** 100 = one core. */
  cpu: z.int().min(0),
  createdAt: z.number(),
  /** The maker of the instance. */
  madeBy: makerSchema,
  /** The instance that this one was made to replace; absent: none. */
  replaces: instanceIdSchema.optional(),
  /** The generation of the configuration's rollout when the instance was made or updated in place; absent: 0. */
  generation: z.int().min(0).optional(),
  /** A rollout is to replace the instance, which has players. Absent: no. */
  outdated: z.literal(true).optional(),
  /** The run of a job that the instance is. Absent: it is none. */
  job: jobOrderSchema.optional(),
  desired: desiredSchema,
  /** Null until placed. A start of a stopped instance clears the placement, so that it must fit anew. */
  placement: placementSchema.nullable(),
  /** The last place. A static instance never leaves that node; others go back there if they fit. */
  home: homeSchema.nullable(),
  status: storedStatusSchema,
});

type StoredInstance = z.output<typeof instanceRecordSchema>;
export type InstanceRecord = Omit<StoredInstance, 'status'> & { status: InstanceStatus };

/** The stored record in the form that readers use. */
export function instanceOf(stored: StoredInstance): InstanceRecord {
  return isInLine(stored) ? stored : { ...stored, status: statusOf(stored.status) };
}

function isInLine(stored: StoredInstance): stored is InstanceRecord {
  const { pid, gone, endedAt, hasBeenReady, upAt } = stored.status;
  return (pid === null || (!gone && endedAt === undefined)) && (!hasBeenReady || upAt === undefined);
}

/**
 * The status with `news`. Drops fields that contradict others: with a process, drops `endedAt`, and `gone` is false. Once
 * the instance has been ready, drops `upAt`. A dropped or absent field is undefined.
 */
export function statusOf(stored: StoredStatus, news: Partial<StoredStatus> = {}): InstanceStatus {
  // All statuses have one shape, from one literal: a copy by spreads or rests takes twenty times as long.
  const status = {
    state: stored.state,
    reason: stored.reason,
    message: stored.message,
    warning: stored.warning,
    installed: stored.installed,
    pid: stored.pid,
    keepsPort: stored.keepsPort,
    busyPort: stored.busyPort,
    restarts: stored.restarts,
    exitCode: stored.exitCode,
    exitSignal: stored.exitSignal,
    lastHeartbeat: stored.lastHeartbeat,
    saidHeartbeat: stored.saidHeartbeat,
    keepsFailing: stored.keepsFailing,
    players: stored.players,
    maxPlayers: stored.maxPlayers,
    tps: stored.tps,
    hasBeenReady: stored.hasBeenReady,
    startedAt: stored.startedAt,
    upAt: stored.upAt,
    countsPlayers: stored.countsPlayers,
    gone: stored.gone,
    awaitsReport: stored.awaitsReport,
    awaitsRestart: stored.awaitsRestart,
    endedAt: stored.endedAt,
  } satisfies Record<keyof StoredStatus, unknown>;
  Object.assign(status, news);
  if (status.pid !== null) Object.assign(status, NO_END);
  if (status.hasBeenReady) status.upAt = undefined;
  return status as InstanceStatus;
}

const NO_END = { gone: false, endedAt: undefined };

export type InstancePlacement = NonNullable<InstanceRecord['placement']>;
export type PlacedTemplate = z.output<typeof placedTemplateSchema>;

/** Sorts instances by age, the oldest first. */
export function byAge(a: Pick<InstanceRecord, 'id' | 'createdAt'>, b: typeof a): number {
  return a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1);
}

/**
 * True when a wanted instance ended by itself, as its node reported, and its restart policy does not start it again.
 */
export function hasFinished({ desired, status }: Pick<InstanceRecord, 'desired' | 'status'>): boolean {
  if (desired.goal !== 'run' || status.pid !== null) return false;
  // Look at `endedAt` first: a client may have reported another state meanwhile.
  return status.endedAt !== undefined || (status.state === 'STOPPED' && status.reason === 'exited');
}

/** True when an instance has finished as it should: a server that made itself a daemon, which was ended, has not. */
export function hasDoneItsWork(record: Pick<InstanceRecord, 'desired' | 'status'>): boolean {
  return hasFinished(record) && record.status.keepsFailing !== true;
}

/** True when a program has ended for good and badly: with another exit code than 0, by a signal, or at its time-out. */
export function hasFailed(record: Pick<InstanceRecord, 'desired' | 'status'>): boolean {
  const { desired, status } = record;
  if (desired.stoppedBy === 'timeout') return status.state === 'STOPPED' && status.pid === null;
  return hasFinished(record) && (status.exitSignal !== null || (status.exitCode ?? 0) !== 0);
}

/** The reason and the message of an instance, as its clients read them. */
export function saidOf({
  desired,
  job,
  status: { reason, message },
}: Pick<InstanceRecord, 'desired' | 'job' | 'status'>): Pick<InstanceInfo, 'reason' | 'message'> {
  if (desired.stoppedBy !== 'timeout') return { reason, message };
  return { reason: 'timed-out', message: `ended at its time-out of ${job?.timeoutSeconds} s` };
}

/**
 * The knowledge about players. `some`: the instance has some. `none`: it has none. `unsaid`: it is up and said a number
 * earlier, but not now. `unknown`: it has never said a number, or is not up.
 */
export type Players = 'some' | 'none' | 'unsaid' | 'unknown';

export function playersOf({ status }: Pick<InstanceRecord, 'status'>): Players {
  if (status.players !== null) return status.players > 0 ? 'some' : 'none';
  return status.countsPlayers === true && status.state === 'ONLINE' ? 'unsaid' : 'unknown';
}

/**
 * True when somebody may be playing. `unsaid` counts as true: a missing number does not mean no players while
 * the process lives.
 */
export function mayBeUsed(players: Players): boolean {
  return players === 'some' || players === 'unsaid';
}

export function hasPlayers(record: Pick<InstanceRecord, 'status'>): boolean {
  return mayBeUsed(playersOf(record));
}

/**
 * True when the instance is stopped as wanted, or finished: no process lives or is about to start, and RAM
 * and CPU are given back. This stays true while its files are removed. Only the node's report counts: an
 * instance that reports itself STOPPED may run on for a while.
 */
export function isAtRest(record: InstanceRecord): boolean {
  if (hasFinished(record)) return true;
  const { desired, placement, status } = record;
  if (desired.goal === 'run') return false;
  if (placement === null) return true;
  if (status.pid !== null) return false;
  return status.endedAt !== undefined || (desired.goal === 'stop' && status.reason === 'stopped');
}

/**
 * True when an instance does its work as far as is known: it is ONLINE, a process of it lives, and it does not fail
 * again and again. A client may report ONLINE of what does not run.
 */
export function isServing({ status }: Pick<InstanceRecord, 'status'>): boolean {
  return status.state === 'ONLINE' && status.pid !== null && status.keepsFailing !== true;
}

/**
 * Sets `endedAt` on an instance at rest before a change of goal or state. Otherwise the ledger would count RAM again
 * that another instance may hold by now. Leaves any other record as it is.
 */
export function withRest(record: InstanceRecord): InstanceRecord {
  const { status } = record;
  if (!isAtRest(record) || status.pid !== null || status.endedAt !== undefined) return record;
  return { ...record, status: { ...status, endedAt: status.lastHeartbeat } };
}

/**
 * True for an instance that is not static and has ended by itself: its program reported itself STOPPED, or its restart
 * policy does not start it again. A run of a job that was stopped counts, too. Nobody asked to keep it. It holds no port,
 * and instance-cleanup removes it in time.
 */
export function hasEndedByItself(record: InstanceRecord): boolean {
  if (record.static || record.desired.goal === 'remove' || !isAtRest(record)) return false;
  return hasFinished(record) || record.desired.stoppedBy !== undefined || record.job !== undefined;
}

/** Notes the end of an instance that has ended by itself, and gives its port back. Any other record stays as it is. */
export function withEnd(record: InstanceRecord, now: number): InstanceRecord {
  const { placement, status } = record;
  if (!hasEndedByItself(record) || status.pid !== null) return record;
  if (status.endedAt !== undefined && portsOf(placement ?? {}).length === 0) return record;
  return {
    ...record,
    placement: placement === null ? null : withoutPorts(placement),
    status: { ...status, endedAt: status.endedAt ?? now },
  };
}

function withoutPorts({ ports: _ports, sharedBy: _by, ...place }: InstancePlacement): InstancePlacement {
  return { ...place, port: null };
}

/**
 * True when a start with another content loses nothing, because the instance has never been ready with its
 * content. Either it has yet to start, or it does not become ready, or no node takes it.
 */
export function awaitsFirstStart({ desired, placement, status }: InstanceRecord): boolean {
  if (desired.goal !== 'run') return false;
  // Placement has not answered yet when there is no message. An instance that is started again then goes home
  // with the content that it had.
  if (placement === null) return status.message !== null;
  if (status.hasBeenReady || status.state === 'ONLINE') return false;
  return status.pid === null || status.reason === 'not-ready';
}

/** The instance as API clients see it: flat, scalars and null only. */
export const instanceInfoSchema = z.object({
  id: shownInstanceId,
  configurationName: z.string(),
  wrapperNodeId: z.string().optional().describe('absent until placed'),
  hostAddress: z.string().optional().describe('absent until placed'),
  allocatedPort: z
    .int()
    .optional()
    .describe('absent until placed, when the configuration asks for no port, or once it has ended by itself'),
  ports: z
    .string()
    .optional()
    .describe('the named ports, such as `query=27016/udp rcon=27020/tcp`; absent where there are none'),
  state: instanceStateSchema,
  lastHeartbeat: z.int().describe('Unix milliseconds'),
  processPid: z.int().nullable().describe('null: nothing runs, or it runs in a container'),
  allocatedRamMB: z.int(),
  allocatedCpu: z.int().describe('100 = one core'),
  runtime: z.string(),
  reason: z.string().nullable(),
  message: z.string().nullable(),
  warning: z
    .string()
    .nullable()
    .describe('what its last install found without effect, such as a file that is not there; null: nothing'),
  restarts: z.int(),
  createdAt: z.int().describe('Unix milliseconds'),
  startedAt: z
    .int()
    .nullable()
    .describe('since when its process runs, Unix milliseconds; null: none, or not known'),
  exitCode: z.int().nullable(),
  exitSignal: z.string().nullable(),
  configurationRevision: z.string(),
  outdated: z.boolean().describe('a rollout replaces it once its players have left'),
  players: z.number().nullable(),
  maxPlayers: z.number().nullable(),
  tps: z.number().nullable(),
});
export type InstanceInfo = z.output<typeof instanceInfoSchema>;

/**
 * The last sign of life, as clients see it. While an instance is ONLINE, the beats of its node count as its own;
 * `lastBeatAt`: when the last one came.
 */
export function heartbeatOf({ placement, status }: InstanceRecord, lastBeatAt = 0): number {
  const isBeating = placement !== null && status.state === 'ONLINE' && lastBeatAt > status.lastHeartbeat;
  return isBeating ? lastBeatAt : (status.saidHeartbeat ?? status.lastHeartbeat);
}

/** The flat view of a record. `lastHeartbeat`: see `heartbeatOf`. */
export function toInstanceInfo(
  record: InstanceRecord,
  lastHeartbeat: number = heartbeatOf(record),
): InstanceInfo {
  const { placement, status } = record;
  const ports = portsText(placement ?? {});
  return {
    id: record.id,
    configurationName: record.configurationName,
    ...(placement !== null && { wrapperNodeId: placement.nodeId, hostAddress: placement.hostAddress }),
    ...(placement !== null && placement.port !== null && { allocatedPort: placement.port }),
    ...(ports !== undefined && { ports }),
    state: status.state,
    lastHeartbeat,
    processPid: publicPid(status.pid),
    allocatedRamMB: record.ramMB,
    allocatedCpu: record.cpu,
    runtime: record.runtime,
    ...saidOf(record),
    warning: status.warning ?? null,
    restarts: status.restarts,
    createdAt: record.createdAt,
    startedAt: status.pid === null ? null : (status.startedAt ?? null),
    exitCode: status.exitCode,
    exitSignal: status.exitSignal,
    configurationRevision: record.revision,
    outdated: record.outdated === true,
    players: status.players,
    maxPlayers: status.maxPlayers,
    tps: status.tps,
  };
}
