/**
 * Reads the last lines of an instance's log, or of one run in it, from the end and over segments. The instance could
 * tamper with its own log, so links are not followed, and only regular files are read.
 */
import type { OutputSpan } from '../model/run/past-exit.js';
import { linesBackwards } from './lines-backwards.js';
import { SegmentCounts } from './segment-counts.js';
import { endsInside, listSegments, type OpenSegment, withSegment } from './segment-reader.js';

interface LastLines {
  /**
   * The lines, oldest first, as written (escape sequences included), invalid UTF-8 replaced. An unfinished last line
   * counts.
   */
  readonly lines: string[];
  /** The number of lines written since the instance was made, including deleted segments. */
  readonly totalLines: number;
}

/**
 * The last `count` lines in `directory`; a missing directory is an empty log. Fewer when `mostBytes` of it are read. With
 * the same `counts` in each call, only newer bytes are counted. Throws the system's read errors.
 */
export async function readLastLines(
  directory: string,
  count: number,
  counts: SegmentCounts = new SegmentCounts(),
  mostBytes = Number.POSITIVE_INFINITY,
): Promise<LastLines> {
  const lines: string[] = [];
  let leftBytes = mostBytes;
  let totalLines: number | undefined;
  for (const segment of (await listSegments(directory)).reverse()) {
    await withSegment(segment, async (opened) => {
      const { size } = opened.stat;
      leftBytes -= await addLines(lines, opened, { end: size, count, mostBytes: leftBytes });
      if (totalLines !== undefined) return;
      const unfinished = (await endsInside(opened, size)) ? 1 : 0;
      totalLines = segment.firstLine - 1 + (await counts.newlines(segment.path, opened)) + unfinished;
    });
    if (totalLines !== undefined && (lines.length >= count || leftBytes <= 0)) break;
  }
  return { lines: lines.slice(0, count).reverse(), totalLines: totalLines ?? 0 };
}

/** The most bytes read of a run; only its last line may be longer. */
const MOST_BYTES = 64 * 1024;

export interface SpanLines {
  /** The lines, oldest first, as written. */
  readonly lines: readonly string[];
  /** False: the end of the run's output was rotated away or removed. */
  readonly isKept: boolean;
}

/** The last `count` lines between the places where a run began and ended. Throws the system's read errors. */
export async function readSpanLines(
  directory: string,
  { from, to }: OutputSpan,
  count: number,
): Promise<SpanLines> {
  const segments = (await listSegments(directory)).filter(
    ({ firstLine }) => firstLine >= from.segment && firstLine <= to.segment,
  );
  const lines: string[] = [];
  let isKept = count === 0;
  let leftBytes = MOST_BYTES;
  for (const segment of segments.reverse()) {
    if (lines.length >= count || leftBytes <= 0 || (!isKept && segment.firstLine !== to.segment)) break;
    const bytes = await withSegment(segment, (opened) => {
      const { size } = opened.stat;
      const end = segment.firstLine === to.segment ? Math.min(to.offset, size) : size;
      const begin = segment.firstLine === from.segment ? Math.min(from.offset, end) : 0;
      return addLines(lines, opened, { begin, end, count, mostBytes: leftBytes });
    });
    isKept = bytes !== undefined || lines.length > 0;
    if (bytes === undefined) break;
    leftBytes -= bytes;
  }
  return { lines: lines.slice(0, count).reverse(), isKept };
}

interface Part {
  /**
   * The offset at which the wanted lines begin; `end`: the offset at which they end. Absent: the segment's beginning.
   */
  readonly begin?: number;
  readonly end: number;
  /** How many lines are wanted in all. */
  readonly count: number;
  readonly mostBytes?: number;
}

/** Adds the last lines of a part to `lines`, which holds the later lines, newest first. Returns the bytes read. */
async function addLines(
  lines: string[],
  { handle }: OpenSegment,
  { begin, end, count, mostBytes = Number.POSITIVE_INFINITY }: Part,
): Promise<number> {
  let read = 0;
  for await (const { lines: earlier, bytes } of linesBackwards(handle, { offset: end, line: 0 }, begin)) {
    for (const { text } of earlier) lines.push(text);
    read += bytes;
    if (lines.length >= count || (read >= mostBytes && lines.length > 0)) break;
  }
  return read;
}
