/**
 * Reads what a tool appends to a run's numbered spool files, in order. The place moves only when it is told, and
 * finished files are deleted. A tool has finished a file when the next one is there.
 */
import { closeSync, existsSync, fstatSync, openSync, readSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { SpoolPlace } from './run-directory.js';

const DIGITS = 6;

export class Spool {
  readonly #directory: string;
  #place: SpoolPlace;
  #fd: number | undefined;

  constructor(directory: string, place: SpoolPlace) {
    this.#directory = directory;
    this.#place = place;
  }

  get place(): SpoolPlace {
    return this.#place;
  }

  /** Size of the current file. */
  get fileBytes(): number {
    const fd = this.#open();
    return fd === undefined ? 0 : fstatSync(fd).size;
  }

  get hasNext(): boolean {
    return existsSync(this.#pathOf(this.#place.file + 1));
  }

  /** True when something is there that was not taken. */
  get isBehind(): boolean {
    return this.fileBytes > this.#place.offset || this.hasNext;
  }

  /**
   * The bytes at the place, as many as there are or the buffer holds; valid until the next read. They reach into
   * the next files, because a border between files may cut what belongs together.
   */
  read(buffer: Buffer): Buffer {
    let length = 0;
    for (let { file, offset } = this.#place; ; file++, offset = 0) {
      const seen = this.#readFrom(file, offset, buffer.subarray(length));
      length += seen;
      if (length === buffer.length || !existsSync(this.#pathOf(file + 1))) return buffer.subarray(0, length);
      // The tool may have written between that read and the next file.
      length += this.#readFrom(file, offset + seen, buffer.subarray(length));
    }
  }

  /** Moves the place over `bytes`, whether they were read or not. */
  take(bytes: number): void {
    const left = this.fileBytes - this.#place.offset;
    if (bytes > left && this.hasNext) {
      this.moveOn();
      this.take(bytes - left);
    } else this.#place = { ...this.#place, offset: this.#place.offset + bytes };
  }

  /** Moves to the next file. The current one stays until `clear`. */
  moveOn(): void {
    this.close();
    this.#place = { file: this.#place.file + 1, offset: 0 };
  }

  /** Removes the file before the current one, and any that an earlier owner left before it. */
  clear(): void {
    for (let file = this.#place.file - 1; file >= 0 && existsSync(this.#pathOf(file)); file--)
      rmSync(this.#pathOf(file), { force: true });
  }

  /** Closes. Idempotent; a later read opens again. */
  close(): void {
    if (this.#fd !== undefined) closeSync(this.#fd);
    this.#fd = undefined;
  }

  #readFrom(file: number, offset: number, buffer: Buffer): number {
    if (buffer.length === 0) return 0;
    if (file === this.#place.file) {
      const fd = this.#open();
      return fd === undefined ? 0 : readSync(fd, buffer, 0, buffer.length, offset);
    }
    const fd = openSync(this.#pathOf(file), 'r');
    try {
      return readSync(fd, buffer, 0, buffer.length, offset);
    } finally {
      closeSync(fd);
    }
  }

  #open(): number | undefined {
    if (this.#fd !== undefined) return this.#fd;
    try {
      this.#fd = openSync(this.#pathOf(this.#place.file), 'r');
    } catch {
      // Not there yet.
    }
    return this.#fd;
  }

  #pathOf(file: number): string {
    return join(this.#directory, spoolName(file));
  }
}

export function spoolName(file: number): string {
  return `spool.${String(file).padStart(DIGITS, '0')}`;
}
