/**
 * Searches a log for lines, the newest first, from its end or from before a given line. A call reads a bounded part of
 * the log and says where to go on. Only whole lines are found. Used by the node's installation.
 */
import { linesBackwards, segmentEnd } from '../lines-backwards.js';
import { listSegments, openSegment } from '../segment-reader.js';
import { linePattern } from './line-pattern.js';

/** The most bytes of the log read in one call, which takes less than half a second. */
const MOST_BYTES = 16 * 1024 * 1024;
/** The most characters in the returned lines, not counting the last line. */
const MOST_CHARS = 1024 * 1024;

export interface LogSearchQuery {
  /** The pattern, as `linePattern` reads it. */
  readonly pattern: string;
  readonly ignoreCase: boolean;
  /** Only lines with a lower number are searched; absent: all. */
  readonly before?: number | undefined;
  /** The most lines to find. */
  readonly limit: number;
}

export interface FoundLines {
  /** The lines, the newest first, escape sequences included. */
  readonly lines: readonly { readonly line: number; readonly text: string }[];
  /** The `before` of the next call; null: the whole kept log was searched. */
  readonly next: number | null;
}

/** Searches a part of the log. Ends early when `signal` aborts. Throws the system's read errors. */
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
    // The segment was rotated away, and so were the older segments.
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
