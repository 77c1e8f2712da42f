/**
 * One reader's place in a log. It reads on from there, over segments, and reports lines that are not kept any more. It
 * keeps its segment open, so that a segment rotated away meanwhile is still read to its end. Used by followLog and
 * readLogRange.
 */
import type { FileHandle } from 'node:fs/promises';
import { LineSplitter } from './line-text.js';
import type { LogBatch } from './log-batch.js';
import { inodeOf, listSegments, type OpenSegment, openSegment } from './segment-reader.js';
import { NEWLINE, type Segment, segmentAt } from './segments.js';
import { placeBefore } from './time-reader.js';

const BLOCK_BYTES = 64 * 1024;
const BATCH_LINES = 1000;
const BATCH_CHARACTERS = 64 * 1024;

interface Place {
  readonly firstLine: number;
  readonly handle: FileHandle;
  readonly inode: number;
  offset: number;
  /** How many of the next lines in the file were given already. */
  toSkip: number;
}

export class LogCursor {
  readonly #directory: string;
  readonly #signal: AbortSignal;
  readonly #splitter = new LineSplitter();
  #place: Place | undefined;
  /** The next segment, already open while the present one is read to its end. */
  #coming: OpenSegment | undefined;
  /** The number of the next line to give. */
  #next: number;

  constructor(directory: string, next: number, signal: AbortSignal) {
    this.#directory = directory;
    this.#signal = signal;
    this.#next = next;
  }

  /**
   * Yields all lines that are there now. `isListChanged` false: looks for no other segment. Throws the system's read
   * errors.
   */
  async *read(isListChanged: boolean): AsyncGenerator<LogBatch> {
    if (this.#place !== undefined) yield* this.#readOn(this.#place);
    if (!isListChanged && this.#place !== undefined) return;
    while (!this.#signal.aborted && (yield* this.#moveOn()))
      if (this.#place !== undefined) yield* this.#readOn(this.#place);
  }

  /** Idempotent. */
  async close(): Promise<void> {
    const open = [this.#place?.handle, this.#coming?.handle];
    this.#place = undefined;
    this.#coming = undefined;
    for (const handle of open) await handle?.close();
  }

  async *#readOn(place: Place): AsyncGenerator<LogBatch> {
    // Allocated for each read, because most followers have nothing to read most of the time.
    const block = Buffer.allocUnsafe(BLOCK_BYTES);
    while (!this.#signal.aborted) {
      const { bytesRead } = await place.handle.read(block, 0, BLOCK_BYTES, place.offset);
      if (bytesRead > 0) {
        place.offset += bytesRead;
        yield* this.#take(place, block.subarray(0, bytesRead));
      } else if ((await place.handle.stat()).size < place.offset) this.#rewind(place);
      else return;
    }
  }

  /**
   * Starts again at the beginning of a file that was cut, because the start of an unfinished line may be gone. Skips
   * the lines that were given already.
   */
  #rewind(place: Place): void {
    this.#splitter.end();
    place.offset = 0;
    place.toSkip = Math.max(0, this.#next - place.firstLine);
  }

  *#take(place: Place, block: Buffer): Generator<LogBatch> {
    let start = 0;
    while (place.toSkip > 0) {
      const end = block.indexOf(NEWLINE, start);
      if (end < 0) return;
      start = end + 1;
      place.toSkip--;
    }
    yield* this.#give(this.#splitter.push(block.subarray(start)));
  }

  *#give(lines: readonly string[]): Generator<LogBatch> {
    for (let start = 0; start < lines.length; ) {
      let end = start;
      for (let characters = 0; end < lines.length && end - start < BATCH_LINES; end++) {
        characters += lines[end]?.length ?? 0;
        if (characters > BATCH_CHARACTERS && end > start) break;
      }
      const firstLine = this.#next;
      this.#next += end - start;
      yield { kind: 'lines', firstLine, lines: lines.slice(start, end) };
      start = end;
    }
  }

  /** Goes on to the next segment. False: the present segment is the newest, or there is none yet. */
  async *#moveOn(): AsyncGenerator<LogBatch, boolean> {
    const segments = await listSegments(this.#directory);
    const place = this.#place;
    const later = segments.filter(({ firstLine }) => firstLine > (place?.firstLine ?? 0));
    if (place === undefined || later.length === 0) {
      if (place !== undefined && (segments.length === 0 || (await isSame(segments.at(-1), place))))
        return false;
      // No segment is open yet, or the open one was taken back (a rotation that failed), or the log was replaced.
      const found = await openFirst(segmentsFrom(segments, this.#next));
      if (found !== undefined) yield* this.#goTo(found);
      return found !== undefined;
    }
    const found = await openFirst(later);
    if (found === undefined) return false;
    // Set before any line is given, because a reader that leaves in between calls `close`.
    this.#coming = found;
    yield* this.#finish(place, later[0]?.firstLine ?? found.firstLine);
    this.#coming = undefined;
    yield* this.#goTo(found);
    return true;
  }

  /** Yields the lines that were written to the present segment between the last read and the rotation. */
  async *#finish(place: Place, nextFirstLine: number): AsyncGenerator<LogBatch> {
    yield* this.#readOn(place);
    // An unfinished line has moved to the next segment. But a line cut for its length stays, and counts as a line here.
    const rest = this.#splitter.end();
    if (rest !== undefined && this.#next < nextFirstLine) yield* this.#give([rest]);
  }

  async *#goTo({ firstLine, handle, stat }: Found): AsyncGenerator<LogBatch> {
    await this.close();
    this.#splitter.end();
    // Set before the wait, which may throw: then `close` closes the handle.
    const place: Place = { firstLine, handle, inode: stat.ino, offset: 0, toSkip: 0 };
    this.#place = place;
    const begin = await placeBefore(segmentAt(this.#directory, firstLine), this.#next, handle);
    place.offset = begin.offset;
    place.toSkip = Math.max(0, this.#next - begin.line);
    if (firstLine <= this.#next) return;
    const from = this.#next;
    this.#next = firstLine;
    yield { kind: 'gap', from, to: firstLine - 1 };
  }
}

interface Found extends OpenSegment {
  readonly firstLine: number;
}

/** Opens the first segment that can be opened. */
async function openFirst(segments: readonly Segment[]): Promise<Found | undefined> {
  for (const segment of segments) {
    const opened = await openSegment(segment);
    if (opened !== undefined) return { ...opened, firstLine: segment.firstLine };
  }
  return undefined;
}

/** The segment that holds line `next`, and the segments after it. */
function segmentsFrom(segments: readonly Segment[], next: number): Segment[] {
  const first = segments.findLastIndex(({ firstLine }) => firstLine <= next);
  return segments.slice(Math.max(0, first));
}

/** True when `newest` is still the file at `place`. False makes the caller look for the segment again. */
async function isSame(newest: Segment | undefined, place: Place): Promise<boolean> {
  if (newest?.firstLine !== place.firstLine) return false;
  return (await inodeOf(newest)) === place.inode;
}
