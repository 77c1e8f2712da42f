/**
 * Remembers how many newlines a segment had at the last look, so that only newer bytes are read. Forgets a count that
 * no longer fits the file: another inode, a shorter file, or other bytes before the counted end.
 */
import type { FileHandle } from 'node:fs/promises';
import { keepLatest } from '../model/plain/keep-latest.js';
import { endsInside, type OpenSegment, withSegment } from './segment-reader.js';
import { countNewlines, type Segment } from './segments.js';

const BLOCK_BYTES = 256 * 1024;
/** How many bytes before the counted end are remembered. They differ in a file that was cut and grew again. */
const SEAL_BYTES = 64;
/** How many counts are kept: more than the logs that are read side by side. A forgotten log is only counted again. */
const MOST_SEGMENTS = 1000;

interface Count {
  readonly inode: number;
  readonly bytes: number;
  readonly newlines: number;
  readonly seal: Buffer;
}

export class SegmentCounts {
  /** The counts by path, the last used one at the end. */
  readonly #counts = new Map<string, Count>();

  /** The number of newlines in the first `stat.size` bytes. May run concurrently. Throws the system's read errors. */
  async newlines(path: string, { handle, stat }: OpenSegment): Promise<number> {
    const known = await this.#known(path, handle, stat.ino, stat.size);
    const newlines = (known?.newlines ?? 0) + (await countIn(handle, known?.bytes ?? 0, stat.size));
    const seal = await readSeal(handle, stat.size);
    keepLatest(this.#counts, MOST_SEGMENTS, path, { inode: stat.ino, bytes: stat.size, newlines, seal });
    return newlines;
  }

  async #known(path: string, handle: FileHandle, inode: number, size: number): Promise<Count | undefined> {
    const count = this.#counts.get(path);
    if (count === undefined || count.inode !== inode || count.bytes > size) return undefined;
    return count.seal.equals(await readSeal(handle, count.bytes)) ? count : undefined;
  }
}

async function readSeal(handle: FileHandle, end: number): Promise<Buffer> {
  const start = Math.max(0, end - SEAL_BYTES);
  const buffer = Buffer.alloc(end - start);
  const { bytesRead } = await handle.read(buffer, 0, buffer.length, start);
  return buffer.subarray(0, bytesRead);
}

/**
 * How many lines with a newline were written to a log, and whether a further line is unfinished. Undefined: no segment
 * can be read. Throws the system's read errors.
 */
export async function countLines(
  segments: readonly Segment[],
  counts: SegmentCounts,
): Promise<{ readonly whole: number; readonly isUnfinished: boolean } | undefined> {
  for (const segment of segments.toReversed()) {
    const found = await withSegment(segment, async (opened) => ({
      whole: segment.firstLine - 1 + (await counts.newlines(segment.path, opened)),
      isUnfinished: await endsInside(opened, opened.stat.size),
    }));
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The number of newlines in the bytes from `start` to `end`. Throws the system's read errors. */
export async function countIn(handle: FileHandle, start: number, end: number): Promise<number> {
  const buffer = Buffer.allocUnsafe(Math.min(BLOCK_BYTES, end - start));
  let newlines = 0;
  for (let at = start; at < end; ) {
    const { bytesRead } = await handle.read(buffer, 0, Math.min(buffer.length, end - at), at);
    if (bytesRead === 0) break;
    newlines += countNewlines(buffer.subarray(0, bytesRead));
    at += bytesRead;
  }
  return newlines;
}
