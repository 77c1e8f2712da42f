/**
 * The names of an instance's log segments: `<number of the first line, 12 digits>.log` in the instance's log
 * directory. Used by the writer (inside the owner process) and by every reader; opens and reads nothing itself.
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

/** How many newlines `bytes` holds. A plain loop: its speed does not depend on how long the lines are. */
export function countNewlines(bytes: Uint8Array): number {
  let count = 0;
  for (let index = 0; index < bytes.length; index++) if (bytes[index] === NEWLINE) count++;
  return count;
}
