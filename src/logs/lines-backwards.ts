/** Reads the lines of a segment from their end to its beginning, block by block. */

import type { FileHandle } from 'node:fs/promises';
import { LONGEST_LINE_BYTES, lineEnd, lineText } from './line-text.js';
import type { OpenSegment } from './segment-reader.js';
import { NEWLINE, type Segment } from './segments.js';
import { placeBefore } from './time-reader.js';

const BLOCK_BYTES = 64 * 1024;

interface LinesPart {
  /** The lines, the newest first. */
  readonly lines: readonly { readonly line: number; readonly text: string }[];
  /** How many bytes were read for these lines. */
  readonly bytes: number;
}

/**
 * Yields the lines between `begin`, an offset, and `end`, the newest first. Ends early when the file was cut. Throws
 * the system's read errors.
 */
export async function* linesBackwards(
  handle: FileHandle,
  end: LineEnd,
  begin = 0,
): AsyncGenerator<LinesPart> {
  const rest = new LineRest();
  let { offset, line } = end;
  while (offset > begin) {
    const size = Math.min(BLOCK_BYTES, offset - begin);
    const block = Buffer.allocUnsafe(size);
    const { bytesRead } = await handle.read(block, 0, size, offset - size);
    if (bytesRead < size) return;
    // The newline at the very end belongs to the last line.
    const stop = offset === end.offset && block[size - 1] === NEWLINE ? size - 1 : size;
    offset -= size;
    const lines: { line: number; text: string }[] = [];
    const last = newlineBefore(block, stop);
    const first = last < 0 ? -1 : block.indexOf(NEWLINE);
    if (last >= 0) {
      rest.prepend(block.subarray(last + 1, stop));
      lines.push({ line: --line, text: rest.take() });
    }
    // Decode all at once, which is several times faster than line by line. None of these lines is longer than a block.
    if (first < last)
      for (const text of block
        .toString('utf8', first + 1, last)
        .split('\n')
        .reverse())
        lines.push({ line: --line, text });
    rest.prepend(block.subarray(0, last < 0 ? stop : first));
    if (offset === begin) lines.push({ line: --line, text: rest.take() });
    yield { lines, bytes: size };
  }
}

function newlineBefore(block: Buffer, stop: number): number {
  return stop === 0 ? -1 : block.lastIndexOf(NEWLINE, stop - 1);
}

/** The end of a line whose beginning is not read yet. Keeps no more of the line than is shown. */
class LineRest {
  #head: Buffer = Buffer.alloc(0);
  #end: Buffer = Buffer.alloc(0);
  #bytes = 0;

  prepend(part: Buffer): void {
    this.#end = lineEnd(part, this.#end);
    this.#bytes += part.length;
    this.#head = Buffer.concat([part, this.#head]).subarray(0, LONGEST_LINE_BYTES);
  }

  take(): string {
    const text = lineText(this.#head, this.#bytes, this.#end);
    this.#head = Buffer.alloc(0);
    this.#end = Buffer.alloc(0);
    this.#bytes = 0;
    return text;
  }
}

const SEARCHED_BYTES = 256 * 1024;

interface LineEnd {
  /** The offset at which the lines end. */
  readonly offset: number;
  /** The number of the line that begins at `offset`. */
  readonly line: number;
}

interface SegmentEndQuery {
  /** The first line that does not count; Infinity: all lines of the segment count. */
  readonly before: number;
  /**
   * The first line of the next segment; undefined: this segment is the newest, and its line without a newline is
   * unfinished.
   */
  readonly nextLine: number | undefined;
}

/** Finds where the lines before number `before` end in the segment. Throws the system's read errors. */
export async function segmentEnd(
  segment: Segment,
  { handle, stat }: OpenSegment,
  { before, nextLine }: SegmentEndQuery,
): Promise<LineEnd> {
  const block = Buffer.allocUnsafe(SEARCHED_BYTES);
  const begin = await placeBefore(segment, before, handle);
  let end: LineEnd = begin;
  for (let at = begin.offset; at < stat.size; ) {
    const { bytesRead } = await handle.read(block, 0, SEARCHED_BYTES, at);
    if (bytesRead === 0) break;
    end = linesIn(block.subarray(0, bytesRead), at, end, before);
    if (end.line >= before) return end;
    at += bytesRead;
  }
  // A line that was cut for its length has no newline: it ends with its segment.
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
