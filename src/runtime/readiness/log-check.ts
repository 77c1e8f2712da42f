/** Looks for the line that tells readiness in a run's log, from the run's first line on, as it is written. */
import type { LogBatch, LogPosition } from '../../logs/log-batch.js';
import { linePattern } from '../../logs/search/line-pattern.js';
import type { Clock } from '../../loop/clock.js';
import { pause } from '../../loop/pause.js';

/**
 * The pause after each batch (1,000 lines or 64 Ki characters): an instance that floods its log takes only a part
 * of a core.
 */
const REST_MS = 5;

export interface LogCheck {
  readonly pattern: string;
  /** Number of the first line that counts. */
  readonly from: number;
  readonly follow: (position: LogPosition, signal: AbortSignal) => AsyncIterable<LogBatch>;
  readonly clock: Clock;
}

/**
 * True as soon as a whole line matches; false when `signal` aborts or the log ends first. Skips lines that were rotated
 * away before they were read. Throws when the log cannot be read.
 */
export async function findLine(
  { pattern, from, follow, clock }: LogCheck,
  signal: AbortSignal,
): Promise<boolean> {
  const matches = linePattern(pattern);
  for await (const batch of follow({ since: from }, signal)) {
    if (signal.aborted) return false;
    if (batch.kind === 'gap') continue;
    if (batch.lines.some(matches)) return true;
    await pause(clock, REST_MS, signal);
  }
  return false;
}
