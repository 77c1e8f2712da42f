/**
 * Reads the last lines of an instance's log from the end, block by block and over segments, without reading the
 * rest. The instance could tamper with its own log: links are not followed and only regular files are read.
 */
import { constants } from 'node:fs';
import { type FileHandle, open, readdir } from 'node:fs/promises';
import { countNewlines, NEWLINE, type Segment, segmentsOf } from './segments.js';

const OPEN = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
const BLOCK_BYTES = 64 * 1024;
const COUNT_BLOCK_BYTES = 256 * 1024;
/** A longer line is shown cut: one answer of 1,000 lines must stay of a size that a client can take. */
const LONGEST_LINE_BYTES = 64 * 1024;

export interface LastLines {
  /** Oldest first, as written (escape sequences included), invalid UTF-8 replaced; an unfinished last line counts. */
  readonly lines: string[];
  /** Every line written since the instance was made, those of deleted segments included. */
  readonly totalLines: number;
}

/** The last `count` lines kept in `directory`; no directory reads as an empty log. Throws the system's read errors. */
export async function readLastLines(directory: string, count: number): Promise<LastLines> {
  const segments = await list(directory);
  let lines: string[] = [];
  let totalLines: number | undefined;
  for (const segment of segments.reverse()) {
    const found = await readSegment(segment, count - lines.length, totalLines === undefined);
    if (found === undefined) continue;
    lines = [...found.lines, ...lines];
    totalLines ??= segment.firstLine - 1 + found.lineCount;
    if (lines.length >= count) break;
  }
  return { lines, totalLines: totalLines ?? 0 };
}

async function list(directory: string): Promise<Segment[]> {
  try {
    return segmentsOf(directory, await readdir(directory));
  } catch (error) {
    if (isGone(error)) return [];
    throw error;
  }
}

interface Found {
  readonly lines: string[];
  /** All lines of the segment; 0 when not asked for. */
  readonly lineCount: number;
}

/** Undefined: removed meanwhile, or something that is no log. */
async function readSegment(segment: Segment, wanted: number, countAll: boolean): Promise<Found | undefined> {
  let handle: FileHandle;
  try {
    handle = await open(segment.path, OPEN);
  } catch (error) {
    if (isGone(error)) return undefined;
    throw error;
  }
  try {
    const stat = await handle.stat();
    if (!stat.isFile()) return undefined;
    const { start, bytes } = await readEnd(handle, stat.size, wanted);
    const before = countAll ? await countUpTo(handle, start) : 0;
    const lines = split(bytes);
    return { lines: lines.slice(Math.max(0, lines.length - wanted)), lineCount: before + lines.length };
  } finally {
    await handle.close();
  }
}

/** The end of the file from a line border on, holding at least `wanted` lines if there are so many. */
async function readEnd(
  handle: FileHandle,
  size: number,
  wanted: number,
): Promise<{ start: number; bytes: Buffer }> {
  const blocks: Buffer[] = [];
  let start = size;
  // One newline more than lines wanted: the one before the first of them shows where it begins.
  for (let newlines = 0; start > 0 && newlines <= wanted; ) {
    const from = Math.max(0, start - BLOCK_BYTES);
    const block = await readAt(handle, from, start);
    newlines += countNewlines(block);
    blocks.unshift(block);
    start = from;
  }
  const bytes = Buffer.concat(blocks);
  const border = start === 0 ? 0 : bytes.indexOf(NEWLINE) + 1;
  return { start: start + border, bytes: bytes.subarray(border) };
}

async function countUpTo(handle: FileHandle, end: number): Promise<number> {
  const buffer = Buffer.allocUnsafe(Math.min(COUNT_BLOCK_BYTES, end));
  let newlines = 0;
  for (let at = 0; at < end; ) {
    const { bytesRead } = await handle.read(buffer, 0, Math.min(buffer.length, end - at), at);
    if (bytesRead === 0) break;
    newlines += countNewlines(buffer.subarray(0, bytesRead));
    at += bytesRead;
  }
  return newlines;
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
    lines.push(decode(bytes.subarray(at, end)));
    at = end + 1;
  }
  return lines;
}

function decode(line: Buffer): string {
  if (line.length <= LONGEST_LINE_BYTES) return line.toString('utf8');
  return `${line.toString('utf8', 0, LONGEST_LINE_BYTES)} [drover] line cut here, it has ${line.length} bytes`;
}

function isGone(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  // ELOOP: a link stands where the segment should be; it is not ours and is not read.
  return code === 'ENOENT' || code === 'ENOTDIR' || code === 'ELOOP';
}
