/**
 * Applies the reports of nodes to the records of their instances. It writes the status fields that a node knows; they
 * have other writers too, by the table in controllers/README.md. It ignores a report on an instance of another node.
 * Repeating a report changes nothing.
 */
import type { Configuration } from '../../model/configuration.js';
import { isSamePort, type NamedPort, type PortProtocol, portsOf } from '../../model/fields/ports.js';
import { type InstanceRecord, type InstanceStatus, statusOf, withEnd } from '../../model/instance.js';
import { isSameValue } from '../../model/plain/same-value.js';
import type { MirrorReader } from '../../store/mirror.js';
import { modify, type RecordSet } from '../../store/modify.js';
import type { Logger } from '../../telemetry/logger.js';
import type { Metrics } from '../../telemetry/metrics.js';
import type { Report } from '../protocol/messages.js';
import type { ExitIntake } from './exit-intake.js';

/**
 * How long an instance without a readiness check must be up to count as ready. Many broken commands run for a moment
 * before they end.
 */
export const READY_AFTER_MS = 60_000;

interface StatusIntakeOptions {
  readonly records: RecordSet<InstanceRecord>;
  /** The contents of instances, by hash. */
  readonly revisions: Pick<MirrorReader<Configuration>, 'get'>;
  readonly exits: Pick<ExitIntake, 'take'>;
  readonly metrics: Metrics;
  readonly logger: Logger;
  /** The wall clock, in Unix milliseconds. */
  readonly now: () => number;
  /** Called when a process outside Drover holds a port of an instance. */
  readonly onBusyPort: (nodeId: string, port: number, protocol: PortProtocol | null) => void;
}

export class StatusIntake {
  readonly #options: StatusIntakeOptions;
  /** The newest unwritten report of each node and instance. */
  readonly #latest = new Map<string, Report>();

  constructor(options: StatusIntakeOptions) {
    this.#options = options;
  }

  /**
   * Writes reports. Resolves when each report is durable or known to be void; only then may the hub acknowledge them. A
   * later report replaces a waiting report, and follows a report whose write has begun.
   */
  async take(nodeId: string, reports: readonly Report[]): Promise<void> {
    await Promise.all(reports.map((report) => this.#takeOne(nodeId, report)));
  }

  /** The reports of a failed `take` that are still the newest of their instances. */
  stillNews(nodeId: string, reports: readonly Report[]): Report[] {
    return reports.filter((report) => this.#latest.get(keyOf(nodeId, report)) === report);
  }

  async #takeOne(nodeId: string, report: Report): Promise<void> {
    const { records, revisions, now, onBusyPort } = this.#options;
    const key = keyOf(nodeId, report);
    this.#latest.set(key, report);
    let before: InstanceRecord | undefined;
    // Report the busy port before the record is written, because placement acts on the change of the record.
    if (report.busyPort !== null && records.mirror.get(report.id)?.value.placement?.nodeId === nodeId)
      onBusyPort(nodeId, report.busyPort, report.busyProtocol ?? null);
    // `modify` writes one change of a record after the other, so `record` holds every earlier report that is durable.
    const after = await modify(records, report.id, (record) => {
      if (record.placement?.nodeId !== nodeId || this.#latest.get(key) !== report) return undefined;
      before = record;
      const content = revisions.get(record.revision)?.value;
      // A content that the run took without a restart may have brought the check, and not have reached the node yet.
      const isJudgedByIt = (report.revision ?? record.revision) === record.revision;
      const facts = { now: now(), isChecked: isJudgedByIt && content?.readiness !== undefined };
      const status = nextStatus(record, report, facts) ?? record.status;
      // Once the former run is over, the instance holds what its content asks for (`InstanceUpdates`), and no more.
      const isOver = record.status.awaitsRestart === true || status.state === 'STOPPED';
      const { ramMB, cpu } = isOver && status.awaitsRestart === undefined ? (content ?? record) : record;
      const next = withEnd({ ...record, ramMB, cpu, status }, now());
      return next.status === record.status ? undefined : next;
    });
    if (before !== undefined) await this.#options.exits.take(nodeId, report, before);
    if (this.#latest.get(key) === report) this.#latest.delete(key);
    if (after !== undefined && before !== undefined) this.#note(nodeId, before, after.status);
  }

  #note(nodeId: string, before: InstanceRecord, after: InstanceStatus): void {
    const { logger, metrics, now } = this.#options;
    const { configurationName: configuration } = before;
    const restarts = after.restarts - before.status.restarts;
    if (restarts > 0) metrics.restarts.inc({ configuration }, restarts);
    if (after.state === 'ONLINE' && before.status.state === 'CREATING' && after.restarts === 0)
      metrics.startSeconds.observe(Math.max(0, now() - before.createdAt) / 1000);
    if (after.reason === 'not-ready' && before.status.reason !== 'not-ready')
      metrics.notReady.inc({ configuration });
    if (after.reason === 'not-alive' && before.status.reason !== 'not-alive')
      metrics.notAlive.inc({ configuration });
    if (after.state === before.status.state && after.reason === before.status.reason) return;
    // At debug level, because the node has already logged the event and its reason.
    logger.debug(
      {
        instance: before.id,
        configuration,
        node: nodeId,
        from: before.status.state,
        to: after.state,
        reason: after.reason,
      },
      `instance ${before.id} (${configuration}) is ${after.state}${after.message === null ? '' : `: ${after.message}`}`,
    );
  }
}

function keyOf(nodeId: string, report: Report): string {
  return `${nodeId}/${report.id}`;
}

/** Fields of a status that a report only takes away, which is no news by itself. */
const NO_NEWS: ReadonlySet<string> = new Set(['saidHeartbeat', 'awaitsReport', 'awaitsRestart', 'endedAt']);

/**
 * The status after a report; undefined when nothing changes. The players and tps that an app PUT stay while the app's
 * process runs.
 */
function nextStatus(
  record: InstanceRecord,
  report: Report,
  facts: ReadinessFacts,
): InstanceStatus | undefined {
  if (isOutdated(record, report)) return undefined;
  const before = record.status;
  // An app that reported itself STOPPED stays STOPPED while its node ends the process.
  const isEnding =
    record.desired.goal === 'stop' && before.state === 'STOPPED' && report.reason === 'stopping';
  const isSelfReported = saysItIsReady(before, report);
  // An app that reported itself ONLINE stays ONLINE while it is being stopped, even if its node never saw it ready.
  const isStillUp = report.reason === 'stopping' && before.state === 'ONLINE' && before.pid === report.pid;
  const { awaitsReport, awaitsRestart } = before;
  const isRestarted = awaitsRestart === true && report.restartToken >= record.desired.restartToken;
  // Until the restart the reports are about the former run, which may have had another content and no readiness check.
  const isFormerRun = awaitsRestart === true && !isRestarted;
  // The former process is over. The report of its end may have been replaced by the report of a restart, so another
  // pid shows it as well.
  const isOver = report.pid === null || (before.pid !== null && report.pid !== before.pid);
  const isSameRun = before.pid === report.pid && before.restarts === report.restarts;
  const after = statusOf(before, {
    startedAt: report.pid === null ? undefined : isSameRun ? before.startedAt : facts.now,
    state: isEnding ? 'STOPPED' : isSelfReported || isStillUp ? 'ONLINE' : report.state,
    reason: isSelfReported ? before.reason : report.reason,
    message: isSelfReported ? before.message : report.message,
    warning: report.warning,
    pid: report.pid,
    gone: report.gone,
    keepsPort: report.keepsPort,
    busyPort: busyPortOf(record, report)?.name,
    installed: report.installed ?? before.installed,
    restarts: report.restarts,
    exitCode: report.exitCode,
    exitSignal: report.exitSignal,
    saidHeartbeat: undefined,
    keepsFailing: report.keepsFailing,
    players: isOver ? null : before.players,
    maxPlayers: isOver ? null : before.maxPlayers,
    tps: isOver ? null : before.tps,
    awaitsReport: undefined,
    awaitsRestart: isFormerRun ? true : undefined,
  });
  const isSame = (Object.keys(after) as (keyof InstanceStatus)[]).every(
    (field) => NO_NEWS.has(field) || isSameValue(after[field], before[field]),
  );
  const next = isFormerRun ? after : withFirstReadiness(before, after, facts);
  const isNowReady = facts.isChecked && next.hasBeenReady && !before.hasBeenReady;
  if (!isSame || isNowReady) return statusOf(next, { lastHeartbeat: facts.now });
  return awaitsReport === true || isRestarted ? after : undefined;
}

/**
 * True when the app has reported itself ONLINE, and the node's report only says that the node still waits for
 * readiness.
 */
function saysItIsReady(before: InstanceStatus, report: Report): boolean {
  const isWaiting = report.pid !== null && (report.reason === 'starting' || report.reason === 'not-ready');
  const isSameRun = (before.pid === null || before.pid === report.pid) && before.restarts === report.restarts;
  return isWaiting && before.state === 'ONLINE' && before.reason === 'reported' && isSameRun;
}

/** True when a report concerns a former request or port. The node reports again when it knows the present request. */
function isOutdated({ desired, placement }: InstanceRecord, report: Report): boolean {
  // Ignore a STOPPED that is older than the latest start: otherwise placement could move an instance that this node is
  // starting.
  if (report.state === 'STOPPED' && desired.goal !== 'remove' && report.restartToken < desired.restartToken)
    return true;
  return report.reason === 'port-busy' && busyPortOf({ placement }, report) === undefined;
}

/** The port of the instance that its node found busy; undefined: none, or a former one. */
function busyPortOf(
  { placement }: Pick<InstanceRecord, 'placement'>,
  { busyPort, busyProtocol }: Report,
): NamedPort | undefined {
  return portsOf(placement ?? {}).find((one) =>
    isSamePort(one, { port: busyPort ?? 0, protocol: busyProtocol ?? 'both' }),
  );
}

interface ReadinessFacts {
  /** The time now, in Unix milliseconds. */
  readonly now: number;
  /** True when the content asks for a readiness check, so that ONLINE means that the check passed. */
  readonly isChecked: boolean;
}

/**
 * The status after a report, with `hasBeenReady` and `upAt` set. An instance that was never ready with its present
 * content may take a repaired content at its next start, because nobody has used the instance.
 */
export function withFirstReadiness(
  before: InstanceStatus,
  after: InstanceStatus,
  { now, isChecked }: ReadinessFacts,
): InstanceStatus {
  if (before.hasBeenReady) return after;
  const isUp = after.state === 'ONLINE' && after.pid !== null;
  const wasUpForLong = before.upAt !== undefined && now - before.upAt >= READY_AFTER_MS;
  const isReady = (isUp && isChecked) || wasUpForLong;
  const isSameRun = before.pid !== null && before.pid === after.pid && before.restarts === after.restarts;
  const upAt = (isSameRun ? before.upAt : undefined) ?? (isUp ? now : undefined);
  if (!isReady && upAt === after.upAt) return after;
  return statusOf(after, { hasBeenReady: isReady, upAt });
}
