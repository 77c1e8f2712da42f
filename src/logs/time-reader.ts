/**
 * Reads the indexes of times beside the segments of a log. The instance could tamper with them as with its log: links
 * are not followed, and reads are bounded. A forged index gives wrong times and wrong numbers of lines, as a forged log
 * does.
 */
import { type FileHandle, lstat } from 'node:fs/promises';
import type { LineTimes } from './line-times.js';
import { withSegment } from './segment-reader.js';
import { NEWLINE, type Segment } from './segments.js';
import {
  ENTRY_BYTES,
  entriesIn,
  isOutdated,
  MOST_ENTRIES,
  type TimeEntry,
  timesPathOf,
  UNKNOWN,
} from './time-index.js';

/** The most bytes read of an index: twice the most entries, because a writer that was killed often adds more. */
const MOST_BYTES = 2 * MOST_ENTRIES * ENTRY_BYTES;
/** The size of the first read, small because readers mostly ask for the newest lines. */
const FIRST_BYTES = 256 * ENTRY_BYTES;

/**
 * The entries that tell the times of the segment's lines from number `from` on, perhaps with earlier entries. Empty
 * when the segment has no index. Throws the system's read errors.
 */
async function readTimes(segment: Segment, from = 1): Promise<TimeEntry[]> {
  const index = { ...segment, path: timesPathOf(segment.path) };
  const found = await withSegment(index, async ({ handle, stat }) => {
    const end = stat.size - (stat.size % ENTRY_BYTES);
    for (let bytes = FIRST_BYTES; ; bytes *= 16) {
      const length = Math.min(end, MOST_BYTES, bytes);
      const block = Buffer.alloc(length);
      const { bytesRead } = await handle.read(block, 0, length, end - length);
      const entries = entriesIn(block.subarray(0, bytesRead));
      const isWhole = length === end || length === MOST_BYTES;
      if (isWhole || (entries[0] !== undefined && segment.firstLine + entries[0].line <= from))
        return entries;
    }
  });
  return found ?? [];
}

/**
 * A place in the segment that certainly begins a line, at or before line number `line`. A reader of that line begins
 * there. `log`: the open segment.
 */
export async function placeBefore(
  segment: Segment,
  line: number,
  log: FileHandle,
): Promise<{ readonly line: number; readonly offset: number }> {
  const start = { line: segment.firstLine, offset: 0 };
  if (line <= segment.firstLine) return start;
  const entries = await readTimes(segment, line);
  const found = entries.findLast((entry) => segment.firstLine + entry.line <= line);
  if (found === undefined || found.offset === 0) return start;
  const { buffer, bytesRead } = await log.read(Buffer.alloc(1), 0, 1, found.offset - 1);
  if (bytesRead === 0 || buffer[0] !== NEWLINE) return start;
  return { line: segment.firstLine + found.line, offset: found.offset };
}

/** The times of all lines from number `from` on, in the order of the log. Throws the system's read errors. */
export async function readSpans(segments: readonly Segment[], from = 1): Promise<LineTimes> {
  const first = Math.max(
    0,
    segments.findLastIndex(({ firstLine }) => firstLine <= from),
  );
  const spans: [number, number | null][] = [];
  for (const segment of segments.slice(first)) {
    const entries = await readTimes(segment, from);
    if (entries[0]?.line !== 0) spans.push([segment.firstLine, null]);
    for (const { line, second } of entries)
      spans.push([segment.firstLine + line, second === UNKNOWN ? null : second]);
    const last = entries.at(-1);
    if (last !== undefined && isOutdated(last, await writtenAt(segment)))
      spans[spans.length - 1] = [segment.firstLine + last.line, null];
  }
  return spans;
}

/** When the segment was last written, in Unix milliseconds; 0: it was removed meanwhile. */
async function writtenAt({ path }: Segment): Promise<number> {
  return (await lstat(path).catch(() => undefined))?.mtimeMs ?? 0;
}
