/**
 * Reads a part of a log by time or by number: its bounds, its last lines, and their times. Used by the node's
 * installation.
 *
 * The order of the log decides. A part goes from the first line not older than `since` to the last line not newer than
 * `until`. When the clock was set back in between, the part also holds lines with other times; none is lost.
 */
import type { LogPlace, OutputSpan } from '../model/run/past-exit.js';
import { type LineTimes, timesWithin } from './line-times.js';
import type { LogPoint } from './log-batch.js';
import { LogCursor } from './log-cursor.js';
import { countIn, countLines, type SegmentCounts } from './segment-counts.js';
import { endsInside, listSegments, withSegment } from './segment-reader.js';
import type { Segment } from './segments.js';
import { readLastLines } from './tail.js';
import { readSpans } from './time-reader.js';

export interface LogRangeQuery {
  readonly since?: LogPoint | undefined;
  readonly until?: LogPoint | undefined;
  /** The run whose output is read; absent: the whole log. */
  readonly within?: OutputSpan | undefined;
  /** How many of the part's last lines are read. */
  readonly lines: number;
  /** The present time in Unix milliseconds, by the node's clock. */
  readonly now: number;
}

export interface LogRange {
  /** The numbers of the part's first and last line; `last` is less than `first` when the part is empty. */
  readonly first: number;
  readonly last: number;
  /** The number of `lines[0]`. */
  readonly firstLine: number;
  /** The last lines of the part, oldest first, as written. */
  readonly lines: readonly string[];
  readonly times: LineTimes;
  /** How many kept lines have no known time. A query by time finds none of them. */
  readonly untimedLines: number;
  readonly totalLines: number;
  /** True when the last line of the log has no newline yet; it counts as a line. */
  readonly isUnfinished: boolean;
}

export async function readLogRange(
  directory: string,
  query: LogRangeQuery,
  counts: SegmentCounts,
): Promise<LogRange> {
  const { lines: newest, totalLines } = await readLastLines(directory, 1, counts);
  const segments = await listSegments(directory);
  // Count again: the last line may have been finished after `readLastLines` looked.
  const { whole = totalLines } = (await countLines(segments, counts)) ?? {};
  const isUnfinished = whole < totalLines;
  // Drop times that belong to no line. A damaged index may hold times past the last line, or several times for one
  // line: then the last one counts.
  const spans = (await readSpans(segments)).filter(
    ([line], index, all) => line <= totalLines && line !== all[index + 1]?.[0],
  );
  const kept = segments[0]?.firstLine ?? 1;
  const run = query.within === undefined ? undefined : await runLines(segments, query.within);
  const first = Math.max(kept, firstOf(query, spans, totalLines), run?.first ?? 1);
  const last = Math.min(totalLines, lastOf(query, spans, totalLines), run?.last ?? totalLines);
  const firstLine = Math.max(first, last - query.lines + 1);
  const unfinished = isUnfinished && last === totalLines ? newest : [];
  const read = await readLines(directory, [firstLine, last], unfinished);
  return {
    first,
    last: Math.max(last, first - 1),
    ...read,
    times: timesWithin(spans, read.firstLine, read.firstLine + read.lines.length - 1),
    untimedLines: untimed(spans, totalLines),
    totalLines,
    isUnfinished,
  };
}

/** The times at which the lines from `from` to `to` were written. Throws the system's read errors. */
export async function readLineTimes(directory: string, from: number, to: number): Promise<LineTimes> {
  return timesWithin(await readSpans(await listSegments(directory), from), from, to);
}

function firstOf({ since, now }: LogRangeQuery, spans: LineTimes, totalLines: number): number {
  if (since === undefined) return 1;
  if ('line' in since) return since.line;
  const second = secondOf(since, now);
  const found = spans.find(([, written]) => written !== null && written >= second);
  return found?.[0] ?? totalLines + 1;
}

function lastOf({ until, now }: LogRangeQuery, spans: LineTimes, totalLines: number): number {
  if (until === undefined) return totalLines;
  if ('line' in until) return until.line;
  const second = secondOf(until, now);
  const found = spans.findLastIndex(([, written]) => written !== null && written <= second);
  return found < 0 ? 0 : (spans[found + 1]?.[0] ?? totalLines + 1) - 1;
}

function secondOf(point: { readonly at: number } | { readonly ago: number }, now: number): number {
  return Math.floor(('at' in point ? point.at : now - point.ago) / 1000);
}

function untimed(spans: LineTimes, totalLines: number): number {
  return spans.reduce((sum, [line, second], index) => {
    const end = Math.min(totalLines + 1, spans[index + 1]?.[0] ?? totalLines + 1);
    return second === null ? sum + Math.max(0, end - line) : sum;
  }, 0);
}

/**
 * Reads the lines from `from` to `to`. Leaves out lines that are gone meanwhile. `unfinished`: the line with number
 * `to`, when it has no newline yet.
 */
async function readLines(
  directory: string,
  [from, to]: readonly [number, number],
  unfinished: readonly string[],
): Promise<{ firstLine: number; lines: string[] }> {
  if (from > to) return { firstLine: from, lines: [] };
  const whole = to - unfinished.length;
  let lines: string[] = [];
  let firstLine = whole + 1;
  const cursor = new LogCursor(directory, from, new AbortController().signal);
  try {
    for await (const batch of cursor.read(true)) {
      if (batch.kind === 'gap') {
        // Drop the lines before a gap, because the result must be lines in a row.
        lines = [];
        firstLine = whole + 1;
      } else if (batch.firstLine <= whole) {
        if (lines.length === 0) firstLine = batch.firstLine;
        lines.push(...batch.lines.slice(0, whole - batch.firstLine + 1));
      }
      if (batch.kind === 'lines' && batch.firstLine + batch.lines.length > whole) break;
    }
  } finally {
    await cursor.close();
  }
  return { firstLine, lines: [...lines, ...unfinished] };
}

/** The first and last number of the kept lines of a run's output; an empty range when the output's end is gone. */
async function runLines(
  segments: readonly Segment[],
  { from, to }: OutputSpan,
): Promise<{ readonly first: number; readonly last: number }> {
  const end = await standingAt(segments, to);
  if (end === undefined) return { first: 1, last: 0 };
  const begin = await standingAt(segments, from);
  return { first: begin?.line ?? 1, last: end.isInside ? end.line : end.line - 1 };
}

/** The line at a place. `isInside`: the line began before the place. Undefined: the place is not kept. */
async function standingAt(
  segments: readonly Segment[],
  place: LogPlace,
): Promise<{ readonly line: number; readonly isInside: boolean } | undefined> {
  const segment = segments.find(({ firstLine }) => firstLine === place.segment);
  return withSegment(segment, async (opened) => {
    const end = Math.min(place.offset, opened.stat.size);
    const line = place.segment + (await countIn(opened.handle, 0, end));
    // A place past the segment's end means that an unfinished line has moved to the next segment since.
    return { line, isInside: place.offset > end || (await endsInside(opened, end)) };
  });
}

/**
 * The number of the first line of a run that starts now. An unfinished line counts, because the start finishes it
 * first. Call it while no run writes. Throws the system's read errors.
 */
export async function nextLine(directory: string, counts: SegmentCounts): Promise<number> {
  const { whole = 0, isUnfinished = false } = (await countLines(await listSegments(directory), counts)) ?? {};
  return whole + (isUnfinished ? 2 : 1);
}

/**
 * The number of the line that begins at a place. If the place's segment was rotated away, returns the number of the
 * segment's first line. Throws the system's read errors.
 */
export async function lineAt(directory: string, { segment, offset }: LogPlace): Promise<number> {
  const found = (await listSegments(directory)).find(({ firstLine }) => firstLine === segment);
  return (
    (await withSegment(found, async ({ handle }) => segment + (await countIn(handle, 0, offset)))) ?? segment
  );
}
