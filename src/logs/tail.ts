/**
 * Reads the last lines of an instance's log from the end, block by block and over segments. The instance could tamper
 * with its own log, so links are not followed, and only regular files are read.
 */
import type { FileHandle } from 'node:fs/promises';
import { lineText } from './line-text.js';
import { SegmentCounts } from './segment-counts.js';
import { listSegments, withSegment } from './segment-reader.js';
import { countNewlines, NEWLINE, type Segment } from './segments.js';

const BLOCK_BYTES = 64 * 1024;

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
 * The last `count` lines in `directory`; a missing directory is an empty log. With the same `counts` in each call, only
 * newer bytes are counted. Throws the system's read errors.
 */
export async function readLastLines(
  directory: string,
  count: number,
  counts: SegmentCounts = new SegmentCounts(),
): Promise<LastLines> {
  const segments = await listSegments(directory);
  let lines: string[] = [];
  let totalLines: number | undefined;
  for (const segment of segments.reverse()) {
    const isNewest = totalLines === undefined;
    const found = await readSegment(segment, count - lines.length, isNewest ? counts : undefined);
    if (found === undefined) continue;
    lines = [...found.lines, ...lines];
    totalLines ??= segment.firstLine - 1 + found.lineCount;
    if (lines.length >= count) break;
  }
  return { lines, totalLines: totalLines ?? 0 };
}

interface Found {
  readonly lines: string[];
  /** The number of lines in the segment; 0 when it was not asked for. */
  readonly lineCount: number;
}

/** Reads the end of a segment. Undefined: it was removed meanwhile, or is no regular file. */
function readSegment(
  segment: Segment,
  wanted: number,
  counts: SegmentCounts | undefined,
): Promise<Found | undefined> {
  return withSegment(segment, async (opened) => {
    const bytes = await readEnd(opened.handle, opened.stat.size, wanted);
    const newlines = (await counts?.newlines(segment.path, opened)) ?? 0;
    const lines = split(bytes);
    const isUnfinished = bytes.length > 0 && bytes.at(-1) !== NEWLINE;
    return {
      lines: lines.slice(Math.max(0, lines.length - wanted)),
      lineCount: newlines + (isUnfinished ? 1 : 0),
    };
  });
}

/** The end of the file from the start of a line, with at least `wanted` lines if there are so many. */
async function readEnd(handle: FileHandle, size: number, wanted: number): Promise<Buffer> {
  const blocks: Buffer[] = [];
  let start = size;
  // One newline more than wanted, because the newline before the first line shows where that line begins.
  for (let newlines = 0; start > 0 && newlines <= wanted; ) {
    const from = Math.max(0, start - BLOCK_BYTES);
    const block = await readAt(handle, from, start);
    newlines += countNewlines(block);
    blocks.unshift(block);
    start = from;
  }
  const bytes = Buffer.concat(blocks);
  return bytes.subarray(start === 0 ? 0 : bytes.indexOf(NEWLINE) + 1);
}

async function readAt(handle: FileHandle, start: number, end: number): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(end - start);
  const { bytesRead } = await handle.read(buffer, 0, buffer.length, start);
  return buffer.subarray(0, bytesRead);
}

function split(bytes: Buffer): string[] {
  const lines: string[] = [];
  for (let at = 0; at < bytes.length; ) {
    const newline = bytes.indexOf(NEWLINE, at);
    const end = newline < 0 ? bytes.length : newline;
    lines.push(lineText(bytes.subarray(at, end)));
    at = end + 1;
  }
  return lines;
}
