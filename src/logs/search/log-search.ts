/**
 * Searches a log for lines, from its end or from before a line, the newest first. One call reads a bounded part of the
 * log and says where to go on. Only whole lines are found. Used by the node's installation.
 */
import { listSegments, openSegment } from '../segment-reader.js';
import { linePattern } from './line-pattern.js';
import { linesBackwards } from './lines-backwards.js';
import { segmentEnd } from './segment-end.js';

/** Of the log, for one call: less than half a second. */
const MOST_BYTES = 16 * 1024 * 1024;
/** Of the lines that are answered, but for the last one. */
const MOST_CHARS = 1024 * 1024;

export interface LogSearchQuery {
  /** As `linePattern` reads it. */
  readonly pattern: string;
  readonly ignoreCase: boolean;
  /** Only lines with a lower number; absent: all. */
  readonly before?: number | undefined;
  /** How many lines are found at most. */
  readonly limit: number;
}

export interface FoundLines {
  /** The newest first, escape sequences included. */
  readonly lines: readonly { readonly line: number; readonly text: string }[];
  /** The `before` to go on with; null: everything that is kept was searched. */
  readonly next: number | null;
}

/** Ends early when `signal` aborts. Throws the system's read errors. */
export async function searchLog(
  directory: string,
  { pattern, ignoreCase, before = Number.POSITIVE_INFINITY, limit }: LogSearchQuery,
  signal: AbortSignal,
): Promise<FoundLines> {
  const matches = linePattern(pattern, { ignoreCase, mostChars: Number.POSITIVE_INFINITY });
  const lines: { line: number; text: string }[] = [];
  let bytesLeft = MOST_BYTES;
  let charsLeft = MOST_CHARS;
  const segments = await listSegments(directory);
  for (const [index, segment] of [...segments.entries()].reverse()) {
    if (segment.firstLine >= before) continue;
    const opened = await openSegment(segment);
    // Rotated away, and so are those before it.
    if (opened === undefined) break;
    try {
      const end = await segmentEnd(segment, opened, { before, nextLine: segments[index + 1]?.firstLine });
      for await (const part of linesBackwards(opened.handle, end)) {
        for (const { line, text } of part.lines) {
          if (!matches(text)) continue;
          lines.push({ line, text });
          charsLeft -= text.length;
          if (lines.length >= limit || charsLeft <= 0) return { lines, next: line };
        }
        bytesLeft -= part.bytes;
        const last = part.lines.at(-1);
        if (last !== undefined && (bytesLeft <= 0 || signal.aborted)) return { lines, next: last.line };
      }
    } finally {
      await opened.handle.close();
    }
  }
  return { lines, next: null };
}
