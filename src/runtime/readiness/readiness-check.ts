/** Waits until one run of an instance is ready by its configuration. The supervisor decides everything else. */
import type { LogBatch } from '../../logs/log-batch.js';
import { linePattern } from '../../logs/search/line-pattern.js';
import type { Clock } from '../../loop/clock.js';
import { pause } from '../../loop/pause.js';
import { type OwnPorts, portNumber } from '../../model/fields/ports.js';
import { OWN_PORT, type Readiness } from '../../model/readiness.js';
import type { Installation } from '../installation/local-installation.js';
import type { RunId } from '../runtime.js';
import { type Finding, localAddresses, tryAt } from './port-check.js';

/** How long one try may take. */
export const TRY_MS = 5000;
/** The pause after the first try; it doubles up to the interval. Most programs are up within a second. */
const FIRST_PAUSE_MS = 100;

/**
 * The pause after each batch (1,000 lines or 64 Ki characters): an instance that floods its log takes only a part
 * of a core.
 */
const REST_MS = 5;

export interface ReadinessTarget extends RunId, OwnPorts {
  readonly readiness: Readiness;
  readonly hostAddress: string;
  /** Number of the first line of the log that this run wrote. */
  readonly logFrom: number;
  /** Whether the run itself listens, where other instances answer at its port, too. */
  readonly ownSocket?: (() => Promise<Finding>) | undefined;
}

interface ReadinessWorld {
  readonly installation: Pick<Installation, 'followLogs'>;
  readonly clock: Clock;
}

/**
 * Resolves with true when the check holds, with false when `signal` aborts. Never rejects: failures go to
 * `onFinding`, and the next try follows.
 */
export async function untilReady(
  target: ReadinessTarget,
  world: ReadinessWorld,
  onFinding: (problem: string) => void,
  signal: AbortSignal,
): Promise<boolean> {
  const { logLine, intervalSeconds } = target.readiness;
  for (let pauseMs = FIRST_PAUSE_MS; !signal.aborted; pauseMs *= 2) {
    const finding =
      (await target.ownSocket?.()) ??
      (await (logLine === undefined
        ? tryPort(target.readiness, target, world.clock, signal)
        : tryLog(target, logLine, world, signal)));
    if (signal.aborted) return false;
    if (finding === null) return true;
    onFinding(finding);
    await pause(world.clock, Math.min(pauseMs, intervalSeconds * 1000), signal);
  }
  return false;
}

/** A single try at a port, 5 s at most. `own`: the instance's ports. */
export async function tryPort(
  { tcpPort, httpGet }: Pick<Readiness, 'tcpPort' | 'httpGet'>,
  { hostAddress, ...own }: OwnPorts & Pick<ReadinessTarget, 'hostAddress'>,
  clock: Clock,
  signal: AbortSignal,
): Promise<Finding> {
  const port = portNumber(tcpPort ?? httpGet?.port ?? OWN_PORT, own);
  if (port === null) return 'it has no port';
  const addresses = localAddresses(hostAddress);
  return withinTime(clock, signal, (ended) => tryAt({ port, path: httpGet?.path }, addresses, ended));
}

async function tryLog(
  { instanceId, logFrom }: ReadinessTarget,
  pattern: string,
  { installation, clock }: ReadinessWorld,
  signal: AbortSignal,
): Promise<Finding> {
  try {
    const batches = installation.followLogs(instanceId, { since: logFrom }, signal);
    return (await findLine(pattern, batches, { clock, signal })) ? null : 'there is no such line';
  } catch {
    // Do not pass on the system's message, because it would name a path.
    return 'its log cannot be read';
  }
}

/**
 * True as soon as a whole line matches; false when `signal` aborts or the log ends first. Skips lines that were rotated
 * away before they were read. Throws when the log cannot be read.
 */
export async function findLine(
  pattern: string,
  batches: AsyncIterable<LogBatch>,
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal },
): Promise<boolean> {
  const matches = linePattern(pattern);
  for await (const batch of batches) {
    if (signal.aborted) return false;
    if (batch.kind === 'gap') continue;
    if (batch.lines.some(matches)) return true;
    await pause(clock, REST_MS, signal);
  }
  return false;
}

/** Calls `attempt` with a signal that aborts after 5 s, and when `signal` does. */
export async function withinTime<T>(
  clock: Clock,
  signal: AbortSignal,
  attempt: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const late = new AbortController();
  const timer = clock.setTimer(TRY_MS, () => late.abort());
  try {
    return await attempt(AbortSignal.any([signal, late.signal]));
  } finally {
    timer.cancel();
  }
}
