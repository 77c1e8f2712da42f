/**
 * One open segment: appends, knows where its last line begins and how many lines it holds, and can hand an
 * unfinished line over to the next segment. Synchronous; throws the system's errors. Used by SegmentWriter only.
 */
import * as fs from 'node:fs';
import { countNewlines, NEWLINE, type Segment } from './segments.js';

// O_NONBLOCK, so that a FIFO with this name does not block the open. O_NOFOLLOW, so that a link leads nowhere.
const OPEN =
  fs.constants.O_RDWR |
  fs.constants.O_CREAT |
  fs.constants.O_APPEND |
  fs.constants.O_NOFOLLOW |
  fs.constants.O_NONBLOCK;
const BLOCK_BYTES = 64 * 1024;

export class SegmentFile {
  readonly firstLine: number;
  readonly #fd: number;
  #size: number;
  #lineStart: number;
  /** Newlines in the bytes after `#uncounted`. Those before are counted only when the number is needed. */
  #newlines = 0;
  readonly #uncounted: number;

  /**
   * Opens or creates the segment. Throws the system's error, or one like EINVAL for an entry that is no regular file.
   */
  constructor(segment: Segment) {
    this.firstLine = segment.firstLine;
    this.#fd = fs.openSync(segment.path, OPEN, 0o600);
    try {
      const stat = fs.fstatSync(this.#fd);
      if (!stat.isFile()) throw new Error(`${segment.path} is not a regular file`);
      this.#size = stat.size;
      this.#uncounted = stat.size;
      this.#lineStart = this.#findLineStart();
    } catch (error) {
      fs.closeSync(this.#fd);
      throw error;
    }
  }

  get size(): number {
    return this.#size;
  }

  /** Offset of the last line: equal to `size` when the last line is finished. */
  get lineStart(): number {
    return this.#lineStart;
  }

  /** The number of lines, an unfinished last one included. Reads what was there before the segment was opened. */
  countLines(): number {
    let newlines = this.#newlines;
    for (const block of this.#blocks(0, this.#uncounted)) newlines += countNewlines(block);
    return newlines + (this.#lineStart < this.#size ? 1 : 0);
  }

  /** Appends once, maybe only a part. Returns the number of bytes written. */
  append(bytes: Uint8Array): number {
    const written = fs.writeSync(this.#fd, bytes);
    const part = written === bytes.length ? bytes : bytes.subarray(0, written);
    const last = part.lastIndexOf(NEWLINE);
    if (last >= 0) this.#lineStart = this.#size + last + 1;
    this.#newlines += countNewlines(part);
    this.#size += written;
    return written;
  }

  /** Appends all of `bytes` or nothing. Answers false when the disk is full. */
  appendWhole(bytes: Uint8Array): boolean {
    const before = { size: this.#size, lineStart: this.#lineStart, newlines: this.#newlines };
    try {
      if (this.append(bytes) === bytes.length) return true;
    } catch {
      // The caller tries again with the next output.
    }
    fs.ftruncateSync(this.#fd, before.size);
    this.#size = before.size;
    this.#lineStart = before.lineStart;
    this.#newlines = before.newlines;
    return false;
  }

  /**
   * Moves the unfinished last line to `next`, which is empty or has the line's beginning. The line is copied before it
   * is cut off here: after a crash between the two it shows twice rather than never, until the writer opens again.
   */
  handOverLine(next: SegmentFile): void {
    for (const block of this.#blocks(this.#lineStart + next.size, this.#size))
      for (let done = 0; done < block.length; ) done += next.append(block.subarray(done));
    fs.ftruncateSync(this.#fd, this.#lineStart);
    this.#size = this.#lineStart;
  }

  close(): void {
    fs.closeSync(this.#fd);
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
