/**
 * Follows the kept logs of a node's instances from their files. A slow reader gets the log at its own pace, and nothing
 * is lost between the kept part and the live part.
 *
 * Only whole lines are given, each once and with its number. A prompt without a newline is given when its line is
 * finished, at the latest when the run has ended (`GET /logs` shows it before).
 */
import type { LogBatch, LogPosition } from './log-batch.js';
import { LogCursor } from './log-cursor.js';
import type { LogWatches } from './log-watches.js';
import { countLines, type SegmentCounts } from './segment-counts.js';
import { listSegments } from './segment-reader.js';

interface FollowOptions {
  readonly counts: SegmentCounts;
  /** Shared by all followers, so that a log is watched once. */
  readonly watches: LogWatches;
  readonly signal: AbortSignal;
}

/**
 * Yields the log in `directory` (which may not exist yet) from `position` on, then live, until `signal` aborts. A
 * position ahead of the log waits for its line. Batches have at most 1,000 lines or 64 Ki characters, or one longer
 * line. Reads the files only when the reader asks. Throws the system's read errors.
 */
export async function* followLog(
  directory: string,
  position: LogPosition,
  { counts, watches, signal }: FollowOptions,
): AsyncGenerator<LogBatch> {
  // The watch starts before the first look, so that no change is missed.
  const watch = watches.open(directory);
  let cursor: LogCursor | undefined;
  try {
    while (!signal.aborted) {
      const { isListChanged } = await watch.changed(signal);
      cursor ??= new LogCursor(directory, await firstLine(directory, position, counts), signal);
      for await (const batch of cursor.read(isListChanged)) {
        if (signal.aborted) return;
        yield batch;
      }
    }
  } finally {
    watch.close();
    await cursor?.close();
  }
}

/** The number of the first line to give. An unfinished line does not count among the last lines. */
async function firstLine(directory: string, position: LogPosition, counts: SegmentCounts): Promise<number> {
  if ('since' in position) return Math.max(1, position.since);
  const segments = await listSegments(directory);
  const { whole = 0 } = (await countLines(segments, counts)) ?? {};
  return Math.max(segments[0]?.firstLine ?? 1, whole + 1 - position.tail);
}
