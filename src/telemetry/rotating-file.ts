/**
 * A log file of bounded size: written synchronously line by line, rotated by renaming (`drover.log`, `.1`, `.2`, ...).
 * A full disk loses lines, which are counted, and never ends the daemon. A file that was removed or renamed from outside
 * is made anew, within a second or with the next line.
 */
import {
  closeSync,
  fstatSync,
  mkdirSync,
  openSync,
  readSync,
  renameSync,
  type Stats,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { isInPlace, lookIsDue } from '../files/in-place.js';
import { isMissing } from '../files/system-error.js';

const NEWLINE = 0x0a;

interface RotatingFileOptions {
  /** The absolute path of the current file; its directory is made when missing. */
  readonly path: string;
  /** The largest size of a file; a line that would exceed it goes into a new file. */
  readonly maxBytes: number;
  /** How many files are kept, including the current file; at least 1. */
  readonly files: number;
  /** The mode of a new file. Default 0640. */
  readonly mode?: number;
  /** Makes the line that tells how many lines were lost, once lines can be written again. */
  readonly lostLine: (lines: number) => string;
  /** Makes the first line of a file that takes the place of a removed or renamed one. */
  readonly removedLine: () => string;
  /** The wall clock in Unix milliseconds; a test's stand-in. */
  readonly now?: () => number;
}

export class RotatingFile {
  readonly #options: RotatingFileOptions;
  readonly #isLookDue: () => boolean;
  #descriptor: number | undefined;
  #stat: Stats | undefined;
  #size = 0;
  #isClosed = false;
  #lost = 0;
  /** True when the file ends with half a line, after a failed write or the crash of an earlier run. */
  #isLineOpen = false;

  /** Opens the file. Throws when it cannot be opened, because an operator can mend that at the start. */
  constructor(options: RotatingFileOptions) {
    this.#options = options;
    this.#isLookDue = lookIsDue(options.now ?? Date.now);
    this.#open();
  }

  /** How many lines were lost since the last written line. */
  get lost(): number {
    return this.#lost;
  }

  /** Appends a line, including its newline. Never throws. */
  write(line: string): void {
    try {
      if (this.#stat !== undefined && this.#isLookDue() && !isInPlace(this.#options.path, this.#stat)) {
        this.#release();
        this.#append(this.#options.removedLine());
      }
      if (this.#lost > 0) {
        this.#append(this.#options.lostLine(this.#lost));
        this.#lost = 0;
      }
      this.#append(line);
    } catch {
      this.#lost++;
    }
  }

  /** Closes the file; later lines are lost. Idempotent. */
  close(): void {
    this.#isClosed = true;
    this.#release();
  }

  #append(line: string): void {
    if (this.#descriptor === undefined) this.#open();
    if (this.#size > 0 && this.#size + Buffer.byteLength(line) > this.#options.maxBytes) this.#rotate();
    const bytes = Buffer.from(this.#isLineOpen ? `\n${line}` : line);
    for (let offset = 0; offset < bytes.length; ) {
      const written = writeSync(this.#descriptor ?? -1, bytes, offset);
      offset += written;
      this.#size += written;
      this.#isLineOpen = offset < bytes.length;
    }
  }

  #rotate(): void {
    const { path, files } = this.#options;
    for (let index = files - 1; index >= 1; index--)
      try {
        renameSync(index === 1 ? path : `${path}.${index - 1}`, `${path}.${index}`);
      } catch (error) {
        if (!isMissing(error)) throw error;
      }
    this.#release();
    this.#open(files === 1 ? 'w+' : 'a+');
  }

  #release(): void {
    const descriptor = this.#descriptor;
    this.#descriptor = undefined;
    this.#stat = undefined;
    if (descriptor !== undefined) closeSync(descriptor);
  }

  #open(flags: 'a+' | 'w+' = 'a+'): void {
    if (this.#isClosed) throw new Error('the log file is closed');
    mkdirSync(dirname(this.#options.path), { recursive: true });
    this.#descriptor = openSync(this.#options.path, flags, this.#options.mode ?? 0o640);
    this.#stat = fstatSync(this.#descriptor);
    this.#size = this.#stat.size;
    this.#isLineOpen = this.#size > 0 && !endsLine(this.#descriptor, this.#size);
  }
}

function endsLine(descriptor: number, size: number): boolean {
  const last = Buffer.alloc(1);
  return readSync(descriptor, last, 0, 1, size - 1) === 1 && last[0] === NEWLINE;
}
