/**
 * Keeps the index of times of one open segment. Synchronous. Never throws, because a log goes on without times. It
 * marks uncertain times as unknown. Used by SegmentFile only.
 */
import * as fs from 'node:fs';
import { isInPlace } from '../files/in-place.js';
import { APPEND } from './segments.js';
import {
  ENTRY_BYTES,
  encodeEntries,
  entryAt,
  isOutdated,
  MOST_ENTRIES,
  type TimeEntry,
  UNKNOWN,
} from './time-index.js';

/** How many entries are always allowed; further entries only as the segment grows. */
const FREE_ENTRIES = 4096;
const LEAST_SPACING_BYTES = 128;
/** How many bytes at the end of a damaged index are searched for a good entry. */
const SEARCHED_BYTES = 4096;

/** The state of the segment when it is opened. */
interface OpenedSegment {
  readonly size: number;
  /** When the segment was last written, in Unix milliseconds. */
  readonly writtenAt: number;
  /** True when a line begins at `offset`: at 0 and after a newline. */
  isLineStart(offset: number): boolean;
}

export class TimeWriter {
  readonly #path: string;
  readonly #segment: OpenedSegment;
  readonly #spacingBytes: number;
  #fd: number | undefined;
  #stat: fs.Stats | undefined;
  #size = 0;
  #last: TimeEntry | undefined;
  /** True when output of unknown time came after the last entry. */
  #isUnsure = false;

  /** `segmentBytes`: the largest size that the segment will have. Opens nothing yet. */
  constructor(path: string, segment: OpenedSegment, segmentBytes: number) {
    this.#path = path;
    this.#segment = segment;
    this.#spacingBytes = Math.max(LEAST_SPACING_BYTES, segmentBytes / (MOST_ENTRIES - FREE_ENTRIES));
  }

  /** The newest entry that is certainly right; undefined: there is none, or the index cannot be opened. */
  get last(): TimeEntry | undefined {
    if (this.#fd === undefined) this.#tryOpen();
    return this.#last;
  }

  /**
   * Notes the time of the output that follows. `end`: the segment's size after that output. False: there is no room for
   * an entry yet; call again with the next output.
   */
  note(entry: TimeEntry, end: number): boolean {
    if (this.#fd === undefined) this.#tryOpen();
    const last = this.#last;
    if (last !== undefined && last.second === entry.second && !this.#isUnsure) return true;
    if (this.#size / ENTRY_BYTES >= FREE_ENTRIES + end / this.#spacingBytes) return false;
    const entries = last !== undefined && this.#isUnsure ? [{ ...last, second: UNKNOWN }, entry] : [entry];
    this.#isUnsure = !this.#append(encodeEntries(entries));
    if (!this.#isUnsure) this.#last = entry;
    return true;
  }

  /** Closes an index that was removed or renamed from outside: the next entry begins a new one. */
  look(): void {
    if (this.#stat !== undefined && !isInPlace(this.#path, this.#stat)) this.close();
  }

  /** Idempotent. */
  close(): void {
    if (this.#fd !== undefined) fs.closeSync(this.#fd);
    this.#fd = undefined;
    this.#stat = undefined;
  }

  #tryOpen(): void {
    let fd: number | undefined;
    try {
      fd = fs.openSync(this.#path, APPEND, 0o600);
      const stat = fs.fstatSync(fd);
      if (!stat.isFile()) throw new Error(`${this.#path} is not a regular file`);
      this.#takeUp(fd, stat.size);
      this.#fd = fd;
      this.#stat = stat;
    } catch {
      if (fd !== undefined) fs.closeSync(fd);
      this.#isUnsure = true;
    }
  }

  /** Goes on after the last good entry, and cuts off the rest. */
  #takeUp(fd: number, size: number): void {
    const whole = size - (size % ENTRY_BYTES);
    const start = Math.max(0, whole - SEARCHED_BYTES);
    const bytes = Buffer.alloc(whole - start);
    const read = fs.readSync(fd, bytes, 0, bytes.length, start);
    let at = read - (read % ENTRY_BYTES) - ENTRY_BYTES;
    let last: TimeEntry | undefined;
    while (at >= 0 && last === undefined) {
      last = this.#goodEntry(bytes, at);
      if (last === undefined) at -= ENTRY_BYTES;
    }
    this.#size = last === undefined ? 0 : start + at + ENTRY_BYTES;
    if (this.#size !== size) fs.ftruncateSync(fd, this.#size);
    this.#last = last;
    this.#isUnsure ||= this.#size !== size || this.#hasUntimed(last);
  }

  #goodEntry(bytes: Buffer, at: number): TimeEntry | undefined {
    const entry = entryAt(bytes, at);
    if (entry === undefined || entry.offset > this.#segment.size) return undefined;
    return this.#segment.isLineStart(entry.offset) ? entry : undefined;
  }

  #hasUntimed(last: TimeEntry | undefined): boolean {
    const { size, writtenAt } = this.#segment;
    return last !== undefined && size > last.offset && isOutdated(last, writtenAt);
  }

  /** Appends all of `bytes` or nothing. */
  #append(bytes: Buffer): boolean {
    const fd = this.#fd;
    if (fd === undefined) return false;
    try {
      if (fs.writeSync(fd, bytes) === bytes.length) {
        this.#size += bytes.length;
        return true;
      }
      fs.ftruncateSync(fd, this.#size);
    } catch {
      // The disk is full. The next second tries again, and marks the time in between as unknown.
    }
    return false;
  }
}
