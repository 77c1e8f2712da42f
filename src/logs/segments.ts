/**
 * The names of an instance's log segments: `<number of the first line, 12 digits>.log` in the instance's log directory.
 * Used by the writer (in the owner process) and every reader. Opens and reads nothing itself.
 */
import { constants } from 'node:fs';
import { join } from 'node:path';

const NAME = /^(\d{12})\.log$/;

// O_NONBLOCK: a FIFO with this name does not block the open. O_NOFOLLOW: a link is not followed.
export const READ = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
export const APPEND =
  constants.O_RDWR | constants.O_CREAT | constants.O_APPEND | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** The end of every line. */
export const NEWLINE = 0x0a;

export interface Segment {
  readonly path: string;
  /** The number of its first line, counted from 1 since the instance was made. */
  readonly firstLine: number;
}

/** The bound of an instance's kept output: at most `segments` files of at most `segmentBytes`. */
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

/** How many bytes are searched one by one before the native search is called. */
const NEAR_BYTES = 4;

/** The number of newlines in `bytes`. Fast for long lines, and not slow for many empty lines. */
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
