/**
 * Reads the last lines of one run from its instance's log, between the places where the run began and ended. It reads a
 * bounded part from the end. As in tail.ts, the instance is not trusted with its log: links are not followed.
 */
import type { OutputSpan } from '../model/run/past-exit.js';
import { listSegments, withSegment } from './segment-reader.js';
import { countNewlines, NEWLINE, type Segment } from './segments.js';

/** The most bytes read of a run, however long its lines are. */
const MOST_BYTES = 64 * 1024;

export interface SpanLines {
  /** The lines, oldest first, as written. The first line is cut when it is very long. */
  readonly lines: readonly string[];
  /** False: the end of the run's output was rotated away or removed. */
  readonly isKept: boolean;
}

/** The last `count` lines between the two places. Throws the system's read errors. */
export async function readSpanLines(directory: string, span: OutputSpan, count: number): Promise<SpanLines> {
  if (count === 0) return { lines: [], isKept: true };
  const segments = (await listSegments(directory)).filter(
    ({ firstLine }) => firstLine >= span.from.segment && firstLine <= span.to.segment,
  );
  if (segments.at(-1)?.firstLine !== span.to.segment) return { lines: [], isKept: false };
  let bytes = Buffer.alloc(0);
  let isWhole = true;
  for (const segment of segments.reverse()) {
    const part = await readPart(segment, span, MOST_BYTES - bytes.length);
    if (part === undefined) return { lines: last(split(bytes, false), count), isKept: bytes.length > 0 };
    bytes = Buffer.concat([part.bytes, bytes]);
    isWhole = part.isWhole;
    // One newline more than wanted, because the newline before the first line shows where that line begins.
    if (!isWhole || bytes.length >= MOST_BYTES || countNewlines(bytes) > count) break;
  }
  return { lines: last(split(bytes, isWhole), count), isKept: true };
}

/** The end of the span's part in this segment. Undefined: the segment was removed meanwhile, or is no regular file. */
function readPart(
  segment: Segment,
  { from, to }: OutputSpan,
  most: number,
): Promise<{ bytes: Buffer; isWhole: boolean } | undefined> {
  return withSegment(segment, async ({ handle, stat }) => {
    const end = segment.firstLine === to.segment ? Math.min(to.offset, stat.size) : stat.size;
    const begin = segment.firstLine === from.segment ? Math.min(from.offset, end) : 0;
    const start = Math.max(begin, end - most);
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(end - start), 0, end - start, start);
    return { bytes: buffer.subarray(0, bytesRead), isWhole: start === begin };
  });
}

/** Splits into lines. Drops the half line with which a bounded read begins, unless there is nothing else. */
function split(bytes: Buffer, isWhole: boolean): string[] {
  if (bytes.length === 0) return [];
  const border = isWhole ? 0 : bytes.indexOf(NEWLINE) + 1;
  const text = bytes.toString('utf8', border === bytes.length ? 0 : border);
  return (text.endsWith('\n') ? text.slice(0, -1) : text).split('\n');
}

function last(lines: readonly string[], count: number): string[] {
  return lines.slice(Math.max(0, lines.length - count));
}
