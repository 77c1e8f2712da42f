/** Finds where the lines of a segment end that stand before a line, and which number comes next there. */
import type { OpenSegment } from '../segment-reader.js';
import { NEWLINE, type Segment } from '../segments.js';
import { placeBefore } from '../time-reader.js';

const BLOCK_BYTES = 256 * 1024;

export interface LineEnd {
  /** Bytes from here on are not meant. */
  readonly offset: number;
  /** Number of the line that begins there. */
  readonly line: number;
}

export interface SegmentEndQuery {
  /** The line that is not meant any more, nor those after it; Infinity: all are meant. */
  readonly before: number;
  /** The first line of the segment after it; undefined: it is the newest, and a line without a newline is unfinished. */
  readonly nextLine: number | undefined;
}

/** Throws the system's read errors. */
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
  // A line that was cut for its length ends with its segment.
  return nextLine !== undefined && end.line < nextLine && end.offset < stat.size
    ? { offset: stat.size, line: nextLine }
    : end;
}

/** Goes on from `end` over the lines that end in `block`, which stands at `at`. */
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
