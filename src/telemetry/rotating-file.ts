/**
 * A log file with a bound: written synchronously line by line, rotated by renaming (`drover.log`, `.1`, `.2`, ...). A
 * full disk loses lines, which are counted, and never ends the daemon.
 */
import { closeSync, fstatSync, mkdirSync, openSync, readSync, renameSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { isMissing } from '../files/system-error.js';

const NEWLINE = 0x0a;

export interface RotatingFileOptions {
  /** Absolute path of the current file; its directory is made when missing. */
  readonly path: string;
  /** Rotate before the file would grow past this. */
  readonly maxBytes: number;
  /** Files kept, the current one included; at least 1. */
  readonly files: number;
  /** Mode of a new file. Default 0640. */
  readonly mode?: number;
  /** The line that says how many lines were lost, once lines can be written again. */
  readonly lostLine: (lines: number) => string;
}

export class RotatingFile {
  readonly #options: RotatingFileOptions;
  #descriptor: number | undefined;
  #size = 0;
  #isClosed = false;
  #lost = 0;
  /** A failed write, or a crash of an earlier run, may have left half a line. */
  #isLineOpen = false;

  /** Throws when the file cannot be opened at all: at the start an operator can mend that. */
  constructor(options: RotatingFileOptions) {
    this.#options = options;
    mkdirSync(dirname(options.path), { recursive: true });
    this.#open();
  }

  /** Number of lines lost since the last one that was written. */
  get lost(): number {
    return this.#lost;
  }

  /** Appends one line, its newline included. Never throws. */
  write(line: string): void {
    try {
      if (this.#lost > 0) {
        this.#append(this.#options.lostLine(this.#lost));
        this.#lost = 0;
      }
      this.#append(line);
    } catch {
      this.#lost++;
    }
  }

  /** Idempotent; later lines are lost. */
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
    for (let index = files - 1; index >= 1; index--) {
      try {
        renameSync(index === 1 ? path : `${path}.${index - 1}`, `${path}.${index}`);
      } catch (error) {
        if (!isMissing(error)) throw error;
      }
    }
    this.#release();
    this.#open(files === 1 ? 'w+' : 'a+');
  }

  #release(): void {
    const descriptor = this.#descriptor;
    this.#descriptor = undefined;
    if (descriptor !== undefined) closeSync(descriptor);
  }

  #open(flags: 'a+' | 'w+' = 'a+'): void {
    if (this.#isClosed) throw new Error('the log file is closed');
    this.#descriptor = openSync(this.#options.path, flags, this.#options.mode ?? 0o640);
    this.#size = fstatSync(this.#descriptor).size;
    this.#isLineOpen = this.#size > 0 && !endsLine(this.#descriptor, this.#size);
  }
}

function endsLine(descriptor: number, size: number): boolean {
  const last = Buffer.alloc(1);
  return readSync(descriptor, last, 0, 1, size - 1) === 1 && last[0] === NEWLINE;
}
