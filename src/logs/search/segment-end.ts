/** Finds the end of a segment's lines that stand before a given line, and the number of the line that follows. */
import type { OpenSegment } from '../segment-reader.js';
import { NEWLINE, type Segment } from '../segments.js';
import { placeBefore } from '../time-reader.js';

const BLOCK_BYTES = 256 * 1024;

export interface LineEnd {
  /** The offset at which the lines end. */
  readonly offset: number;
  /** The number of the line that begins at `offset`. */
  readonly line: number;
}

export interface SegmentEndQuery {
  /** The first line that does not count; Infinity: all lines of the segment count. */
  readonly before: number;
  /**
   * The first line of the next segment; undefined: this segment is the newest, and its line without a newline is
   * unfinished.
   */
  readonly nextLine: number | undefined;
}

/** Finds the end. Throws the system's read errors. */
export async function segmentEnd(
  segment: Segment,
  { handle, stat }: OpenSegment,
  { before, nextLine }: SegmentEndQuery,
): Promise<LineEnd> {
  const block = Buffer.allocUnsafe(BLOCK_BYTES);
  const begin = await placeBefore(segment, before, handle);
  let end: LineEnd = begin;
  for (let at = begin.offset; at < stat.size; ) {
    const { bytesRead } = await handle.read(block, 0, BLOCK_BYTES, at);
    if (bytesRead === 0) break;
    end = linesIn(block.subarray(0, bytesRead), at, end, before);
    if (end.line >= before) return end;
    at += bytesRead;
  }
  // A line cut for its length ends at the end of its segment.
  return nextLine !== undefined && end.line < nextLine && end.offset < stat.size
    ? { offset: stat.size, line: nextLine }
    : end;
}

/** Moves `end` over the lines that end in `block`, whose offset in the segment is `at`. */
function linesIn(block: Buffer, at: number, end: LineEnd, before: number): LineEnd {
  let { offset, line } = end;
  for (
    let found = block.indexOf(NEWLINE);
    found >= 0 && line < before;
    found = block.indexOf(NEWLINE, found + 1)
  ) {
    offset = at + found + 1;
    line++;
  }
  return { offset, line };
}
