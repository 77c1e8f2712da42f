/**
 * The names of an instance's log segments: `<number of the first line, 12 digits>.log` in the instance's log directory.
 * Used by the writer (in the owner process) and by every reader. Opens and reads nothing itself.
 */
import { join } from 'node:path';

const NAME = /^(\d{12})\.log$/;

/** Ends every line; a line border is the place after one, or the end of a segment. */
export const NEWLINE = 0x0a;

export interface Segment {
  readonly path: string;
  /** Number of its first line, counted from 1 since the instance was made. */
  readonly firstLine: number;
}

/** How much of an instance's output is kept: at most `segments` files of at most `segmentBytes`. */
export interface SegmentLimits {
  readonly segmentBytes: number;
  readonly segments: number;
}

export function segmentAt(directory: string, firstLine: number): Segment {
  return { path: join(directory, `${String(firstLine).padStart(12, '0')}.log`), firstLine };
}

/** The segments among the `names` of a directory's entries, oldest first; other names are skipped. */
export function segmentsOf(directory: string, names: readonly string[]): Segment[] {
  const found: Segment[] = [];
  for (const name of names) {
    const digits = NAME.exec(name)?.[1];
    if (digits !== undefined) found.push(segmentAt(directory, Number(digits)));
  }
  return found.sort((a, b) => a.firstLine - b.firstLine);
}

/** How far the next newline is searched byte by byte, before the native search is called. */
const NEAR_BYTES = 4;

/** The number of newlines in `bytes`. Fast for long lines, and not slow for a flood of empty ones. */
export function countNewlines(bytes: Uint8Array): number {
  let count = 0;
  for (let at = bytes.indexOf(NEWLINE); at >= 0; ) {
    count++;
    at++;
    const near = Math.min(at + NEAR_BYTES, bytes.length);
    while (at < near && bytes[at] !== NEWLINE) at++;
    if (at === near) at = bytes.indexOf(NEWLINE, at);
  }
  return count;
}
