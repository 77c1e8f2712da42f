/**
 * Ends the runs that outlived their owner. Nobody holds their terminal, log and exit any more, so no owner can take
 * them over. Left alone, they would run beside their replacements.
 */
import type { Clock } from '../../loop/clock.js';
import type { Logger } from '../../telemetry/logger.js';
import type { InstanceProcesses, Leader } from '../instance-processes.js';
import { keyOf, type RunId } from '../runtime.js';

const TERM_PATIENCE_MS = 2000;
const KILL_PATIENCE_MS = 5000;
const LOOK_AGAIN_MS = 25;

interface RemainsOptions {
  readonly processes: InstanceProcesses;
  readonly clock: Clock;
  readonly logger: Logger;
  /** The runs that the daemon knew to live. */
  readonly known: readonly RunId[];
  readonly leaderOf: (run: RunId) => Leader | undefined;
}

/** Sends SIGTERM, and SIGKILL after 2 s. Resolves when all are gone, with the runs that were found by their mark. */
export async function endRemains(options: RemainsOptions): Promise<readonly RunId[]> {
  const { processes, logger, leaderOf } = options;
  const marked = await processes.marked();
  const runs = new Map([...marked, ...options.known].map((run) => [keyOf(run), run]));
  let left = await alive([...runs.values()], options);
  if (left.length === 0) return marked;
  logger.warn({ runs: left.map(keyOf) }, 'ending processes that survived their owner process');
  await Promise.all(left.map((run) => processes.signal(run, leaderOf(run), 'SIGTERM')));
  left = await waitUntilGone(left, TERM_PATIENCE_MS, options);
  await Promise.all(left.map((run) => processes.signal(run, leaderOf(run), 'SIGKILL')));
  left = await waitUntilGone(left, KILL_PATIENCE_MS, options);
  if (left.length > 0) logger.error({ runs: left.map(keyOf) }, 'SIGKILL did not end these processes');
  return marked;
}

async function alive(runs: readonly RunId[], options: RemainsOptions): Promise<RunId[]> {
  const states = await Promise.all(runs.map((run) => options.processes.isAlive(run, options.leaderOf(run))));
  return runs.filter((_, index) => states[index]);
}

async function waitUntilGone(
  runs: readonly RunId[],
  patienceMs: number,
  options: RemainsOptions,
): Promise<RunId[]> {
  const { clock } = options;
  const giveUpAt = clock.monotonic() + patienceMs;
  let left = await alive(runs, options);
  while (left.length > 0 && clock.monotonic() < giveUpAt) {
    await new Promise<void>((resolve) => clock.setTimer(LOOK_AGAIN_MS, resolve));
    left = await alive(left, options);
  }
  return left;
}
