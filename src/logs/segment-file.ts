/**
 * An open segment. It appends output, notes the times, knows where its last line begins and how many lines it holds,
 * and can hand an unfinished line over to the next segment. Synchronous; throws the system's errors. Used by
 * SegmentWriter only.
 */
import * as fs from 'node:fs';
import { isInPlace } from '../files/in-place.js';
import { APPEND, countNewlines, NEWLINE, type Segment } from './segments.js';
import { timesPathOf } from './time-index.js';
import { TimeWriter } from './time-writer.js';

const BLOCK_BYTES = 64 * 1024;

export class SegmentFile {
  readonly firstLine: number;
  readonly #path: string;
  readonly #stat: fs.Stats;
  readonly #fd: number;
  readonly #now: () => number;
  readonly #times: TimeWriter;
  /**
   * The second of the newest output: it begins at `#secondFrom` and ends before `#secondTo`, in Unix milliseconds.
   */
  #secondFrom = Number.POSITIVE_INFINITY;
  #secondTo = 0;
  #size: number;
  #lineStart: number;
  /** The number of newlines in the bytes after `#uncounted`. Earlier bytes are counted only when needed. */
  #newlines = 0;
  readonly #uncounted: number;
  /** The number of newlines in the bytes before `#uncounted`; undefined: not counted yet. */
  #newlinesBefore: number | undefined;

  /**
   * Opens or creates the segment. `segmentBytes`: the largest size that it will have. `now`: the wall clock in Unix
   * milliseconds. Throws the system's error, or an Error when the entry is no regular file.
   */
  constructor(segment: Segment, segmentBytes: number, now: () => number) {
    this.firstLine = segment.firstLine;
    this.#path = segment.path;
    this.#now = now;
    this.#fd = fs.openSync(segment.path, APPEND, 0o600);
    try {
      const stat = fs.fstatSync(this.#fd);
      this.#stat = stat;
      if (!stat.isFile()) throw new Error(`${segment.path} is not a regular file`);
      this.#size = stat.size;
      this.#uncounted = stat.size;
      this.#lineStart = this.#findLineStart();
      const opened = {
        size: stat.size,
        writtenAt: stat.mtimeMs,
        isLineStart: (offset: number) => offset === 0 || this.#byteAt(offset - 1) === NEWLINE,
      };
      this.#times = new TimeWriter(timesPathOf(segment.path), opened, segmentBytes);
    } catch (error) {
      fs.closeSync(this.#fd);
      throw error;
    }
  }

  /** False when the segment was removed or renamed from outside. An index of times that was removed is made anew. */
  look(): boolean {
    this.#times.look();
    return isInPlace(this.#path, this.#stat);
  }

  get size(): number {
    return this.#size;
  }

  /** The offset of the last line; equal to `size` when the last line is finished. */
  get lineStart(): number {
    return this.#lineStart;
  }

  /**
   * The number of lines, including an unfinished last line. The first call counts the bytes written before the segment
   * was opened.
   */
  countLines(): number {
    return this.#countNewlines() + (this.#lineStart < this.#size ? 1 : 0);
  }

  /** Appends as much of `bytes` as one write takes. Returns the number of bytes written. */
  append(bytes: Uint8Array): number {
    const now = this.#now();
    if (now >= this.#secondTo || now < this.#secondFrom) this.#noteTime(now, bytes.length);
    const written = fs.writeSync(this.#fd, bytes);
    const part = written === bytes.length ? bytes : bytes.subarray(0, written);
    const last = part.lastIndexOf(NEWLINE);
    if (last >= 0) this.#lineStart = this.#size + last + 1;
    this.#newlines += countNewlines(part);
    this.#size += written;
    return written;
  }

  /** Appends all of `bytes` or nothing. False: the disk is full. */
  appendWhole(bytes: Uint8Array): boolean {
    const before = { size: this.#size, lineStart: this.#lineStart, newlines: this.#newlines };
    try {
      if (this.append(bytes) === bytes.length) return true;
    } catch {
      // Ignore the error: the caller tries again with the next output.
    }
    fs.ftruncateSync(this.#fd, before.size);
    this.#size = before.size;
    this.#lineStart = before.lineStart;
    this.#newlines = before.newlines;
    return false;
  }

  /**
   * Moves the unfinished last line to `next`, which is empty or has the line's beginning. Copies the line before
   * cutting it off here. After a crash in between the line shows twice rather than never, until the writer opens again.
   */
  handOverLine(next: SegmentFile): void {
    for (const block of this.#blocks(this.#lineStart + next.size, this.#size))
      for (let done = 0; done < block.length; ) done += next.append(block.subarray(done));
    // Note the time first, because the cut changes the file's date: the last lines would otherwise seem to be written
    // now.
    this.#noteTime(this.#now(), 0);
    fs.ftruncateSync(this.#fd, this.#lineStart);
    this.#size = this.#lineStart;
  }

  close(): void {
    this.#times.close();
    fs.closeSync(this.#fd);
  }

  /** Notes the time before the output, so that a killed writer leaves no output under an earlier time. */
  #noteTime(now: number, bytes: number): void {
    const second = Math.floor(now / 1000);
    const entry = { second, line: this.#countNewlines(), offset: this.#lineStart };
    if (!this.#times.note(entry, this.#size + bytes)) return;
    this.#secondFrom = second * 1000;
    this.#secondTo = this.#secondFrom + 1000;
  }

  /**
   * The number of newlines in the file. The last time entry holds the count up to its place, so only the bytes after
   * it are read.
   */
  #countNewlines(): number {
    this.#newlinesBefore ??= this.#countBefore();
    return this.#newlinesBefore + this.#newlines;
  }

  #countBefore(): number {
    const { line, offset } = this.#times.last ?? { line: 0, offset: 0 };
    let newlines = line;
    for (const block of this.#blocks(offset, this.#uncounted)) newlines += countNewlines(block);
    return newlines;
  }

  #byteAt(offset: number): number | undefined {
    const byte = Buffer.alloc(1);
    return fs.readSync(this.#fd, byte, 0, 1, offset) === 1 ? byte[0] : undefined;
  }

  #findLineStart(): number {
    const buffer = Buffer.allocUnsafe(Math.min(BLOCK_BYTES, this.#size));
    for (let end = this.#size; end > 0; ) {
      const start = Math.max(0, end - BLOCK_BYTES);
      const read = fs.readSync(this.#fd, buffer, 0, end - start, start);
      const last = buffer.subarray(0, read).lastIndexOf(NEWLINE);
      if (last >= 0) return start + last + 1;
      end = start;
    }
    return 0;
  }

  *#blocks(start: number, end: number): Generator<Uint8Array> {
    const buffer = Buffer.allocUnsafe(Math.min(BLOCK_BYTES, end - start));
    for (let at = start; at < end; ) {
      const read = fs.readSync(this.#fd, buffer, 0, Math.min(BLOCK_BYTES, end - at), at);
      if (read === 0) return;
      yield buffer.subarray(0, read);
      at += read;
    }
  }
}
