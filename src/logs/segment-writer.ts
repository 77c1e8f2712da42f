/**
 * Writes an instance's output as segments, synchronously and in order. It bounds their size and count, cuts only
 * between lines, and never throws at the terminal that feeds it. Lives in the owner process, one per instance.
 *
 * A line longer than a whole segment is cut at the segment's size; the rest goes on as a new line. While the disk is
 * full, output is dropped and counted; when there is room again a line tells how much was lost. A segment that was
 * removed or renamed from outside is noticed within a second of output: the log goes on in a new one, and says so.
 */

import * as fs from 'node:fs';
import { basename, join } from 'node:path';
import { lookIsDue } from '../files/in-place.js';
import { refusalOf, systemCodeOf } from '../files/system-error.js';
import { messageOf } from '../model/errors.js';
import type { LogPlace } from '../model/run/past-exit.js';
import { SegmentFile } from './segment-file.js';
import { NEWLINE, type Segment, type SegmentLimits, segmentAt, segmentsOf } from './segments.js';
import { indexesOf } from './time-index.js';
import { ValueMask } from './value-mask.js';

export class SegmentWriter {
  readonly #directory: string;
  readonly #limits: SegmentLimits;
  readonly #now: () => number;
  readonly #isLookDue: () => boolean;
  #file: SegmentFile | undefined;
  #mask: ValueMask | undefined;
  /** The number of the next line, when the segment that had the line before was removed from outside. */
  #nextLine: number | undefined;
  #lost: { bytes: number; readonly reason: string } | undefined;
  /** How many bytes of the present chunk are on disk. */
  #done = 0;
  #isClosed = false;

  /** `now`: the wall clock in Unix milliseconds, for the times of lines. */
  constructor(directory: string, limits: SegmentLimits, now: () => number = Date.now) {
    this.#directory = directory;
    this.#limits = limits;
    this.#now = now;
    this.#isLookDue = lookIsDue(now);
  }

  /**
   * Creates the directory and opens the newest segment, to continue it. Throws the system's error; the writer can still
   * be used, and tries again with every write.
   */
  open(): void {
    if (this.#file !== undefined) return;
    fs.mkdirSync(this.#directory, { recursive: true, mode: 0o700 });
    if (!fs.lstatSync(this.#directory).isDirectory())
      throw new Error(`${this.#directory} is not a directory`);
    const segments = segmentsOf(this.#directory, fs.readdirSync(this.#directory));
    const [newest = segmentAt(this.#directory, 1), before] = segments.reverse();
    const next = this.#nextLine;
    const file = this.#openFile(next === undefined ? newest : segmentAt(this.#directory, next));
    if (next === undefined && before !== undefined) this.#finishHandOver(before, file);
    this.#nextLine = undefined;
    this.#file = file;
  }

  /** Covers these values from now on, in the chunks themselves: who shows a chunk after its write shows no value. */
  hide(values: readonly string[]): void {
    this.#mask = values.length === 0 ? undefined : new ValueMask(values);
  }

  /**
   * Appends output. Never throws: output that cannot be written is dropped, counted and reported later. Returns true
   * when the log grew by exactly this chunk.
   */
  write(chunk: Uint8Array): boolean {
    if (this.#isClosed) return false;
    this.#mask?.cover(chunk);
    if (this.#isLookDue()) this.#look();
    const hadLost = this.#lost !== undefined;
    if (this.#lost !== undefined && !this.#sayLoss(this.#lost)) {
      this.#lost.bytes += chunk.length;
      return false;
    }
    this.#done = 0;
    try {
      this.open();
      this.#append(chunk);
      return !hadLost;
    } catch (error) {
      this.#lost = { bytes: chunk.length - this.#done, reason: reasonOf(error) };
      return false;
    }
  }

  /** Finishes an unfinished last line, so that the output of a new run begins on a line of its own. */
  endLine(): void {
    const file = this.#file;
    if (file !== undefined && file.lineStart < file.size) this.write(Uint8Array.of(NEWLINE));
  }

  /** The place of the next byte; undefined while the log cannot be opened. */
  get position(): LogPlace | undefined {
    return this.#file === undefined ? undefined : { segment: this.#file.firstLine, offset: this.#file.size };
  }

  /** Tries once more to report a loss, then closes. Idempotent. */
  close(): void {
    if (this.#isClosed) return;
    if (this.#lost !== undefined) this.#sayLoss(this.#lost);
    this.#isClosed = true;
    this.#file?.close();
    this.#file = undefined;
  }

  /** Lets go of a segment that is no longer at its path, so that its disk space is given back. */
  #look(): void {
    const file = this.#file;
    if (file === undefined || file.look()) return;
    const name = basename(segmentAt(this.#directory, file.firstLine).path);
    this.#lost = {
      bytes: file.size + (this.#lost?.bytes ?? 0),
      reason: `${name} was removed or renamed while it was written`,
    };
    this.#nextLine = file.firstLine + file.countLines();
    this.#file = undefined;
    file.close();
  }

  #append(chunk: Uint8Array): void {
    while (this.#done < chunk.length) {
      const rest = chunk.subarray(this.#done);
      const file = this.#current();
      const room = Math.max(0, this.#limits.segmentBytes - file.size);
      if (rest.length <= room) {
        this.#appendAll(file, rest);
        continue;
      }
      const border = lastNewlineBefore(rest, room);
      if (border > 0) this.#appendAll(file, rest.subarray(0, border));
      // No line ends in the remaining room, and the line began at the segment's start: cut the line.
      else if (file.lineStart === 0) this.#appendAll(file, rest.subarray(0, room));
      this.#rotate(file);
    }
  }

  #appendAll(file: SegmentFile, bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length; ) {
      const written = file.append(bytes.subarray(at));
      at += written;
      this.#done += written;
    }
  }

  /**
   * Closes `file` and continues in a new segment. An unfinished line moves there, unless it fills the whole segment.
   */
  #rotate(file: SegmentFile): void {
    const hasOpenLine = file.lineStart > 0 && file.lineStart < file.size;
    const firstLine = file.firstLine + file.countLines() - (hasOpenLine ? 1 : 0);
    const segment = segmentAt(this.#directory, firstLine);
    // Remove the oldest segments before the new one is made, because this makes room on a full disk.
    this.#removeOldest();
    const next = this.#openFile(segment);
    try {
      if (hasOpenLine) file.handOverLine(next);
    } catch (error) {
      next.close();
      fs.rmSync(segment.path, { force: true });
      throw error;
    }
    this.#file = next;
    file.close();
  }

  /** Removes the oldest segments, and every index of times whose segment is gone. */
  #removeOldest(): void {
    const names = fs.readdirSync(this.#directory);
    const segments = segmentsOf(this.#directory, names);
    const surplus = Math.max(0, segments.length - this.#limits.segments + 1);
    for (const old of segments.slice(0, surplus)) fs.rmSync(old.path, { force: true });
    const kept = new Set(segments.slice(surplus).map(({ firstLine }) => firstLine));
    for (const { name, firstLine } of indexesOf(names))
      if (!kept.has(firstLine)) fs.rmSync(join(this.#directory, name), { force: true });
  }

  #openFile(segment: Segment): SegmentFile {
    return new SegmentFile(segment, this.#limits.segmentBytes, this.#now);
  }

  /**
   * Completes a move that a crash cut off. A segment ends in the middle of a line only when the line fills it. So an
   * unfinished line at the end of `before` was being moved, and `file` holds its beginning.
   */
  #finishHandOver(before: Segment, file: SegmentFile): void {
    const previous = this.#openFile(before);
    try {
      const lineBytes = previous.size - previous.lineStart;
      if (previous.lineStart > 0 && lineBytes > 0 && file.size <= lineBytes) previous.handOverLine(file);
    } catch (error) {
      file.close();
      throw error;
    } finally {
      previous.close();
    }
  }

  #sayLoss(lost: { readonly bytes: number; readonly reason: string }): boolean {
    try {
      this.open();
      const file = this.#current();
      const line = `[drover] ${lost.bytes} bytes of output lost: ${lost.reason}\n`;
      const note = Buffer.from(file.lineStart < file.size ? `\n${line}` : line);
      if (file.size > 0 && file.size + note.length > this.#limits.segmentBytes) this.#rotate(file);
      if (!this.#current().appendWhole(note)) return false;
    } catch {
      return false;
    }
    this.#lost = undefined;
    return true;
  }

  #current(): SegmentFile {
    if (this.#file === undefined) throw new Error('the log is not open');
    return this.#file;
  }
}

/** The index after the last newline in the first `room` bytes; 0: there is none. */
function lastNewlineBefore(bytes: Uint8Array, room: number): number {
  return bytes.subarray(0, room).lastIndexOf(NEWLINE) + 1;
}

function reasonOf(error: unknown): string {
  return systemCodeOf(error) === undefined ? messageOf(error) : refusalOf(error);
}

/**
 * The bytes written to the log in `directory` after `place`. A line that was moved to the next segment meanwhile counts
 * once. Undefined when the place's segment is gone. Throws the system's error.
 */
export function bytesAfter(directory: string, { segment, offset }: LogPlace): number | undefined {
  const names = fs.readdirSync(directory);
  const since = segmentsOf(directory, names).filter(({ firstLine }) => firstLine >= segment);
  if (since[0]?.firstLine !== segment) return undefined;
  return since.reduce((sum, { path }) => sum + fs.statSync(path).size, -offset);
}
