/**
 * Reads a run's numbered spool files, to which the tool appends, in order. The place moves only when it is told to, and
 * finished files are deleted. A file is finished when the next file exists.
 */
import { closeSync, existsSync, fstatSync, openSync, readSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { isInPlace } from '../../files/in-place.js';
import { attempt } from '../../model/plain/attempt.js';
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

  /** The size of the current file. */
  get fileBytes(): number {
    const fd = this.#open();
    return fd === undefined ? 0 : fstatSync(fd).size;
  }

  get hasNext(): boolean {
    return existsSync(this.#pathOf(this.#place.file + 1));
  }

  /** True when some bytes were not taken yet. */
  get isBehind(): boolean {
    return this.fileBytes > this.#place.offset || this.hasNext;
  }

  /**
   * The bytes at the place, as many as exist or fit into the buffer; valid until the next read. They reach into the
   * next files, because the end mark may begin in one file and end in the next.
   */
  read(buffer: Buffer): Buffer {
    let length = 0;
    for (let { file, offset } = this.#place; ; file++, offset = 0) {
      const seen = this.#readFrom(file, offset, buffer.subarray(length));
      length += seen;
      if (length === buffer.length || !existsSync(this.#pathOf(file + 1))) return buffer.subarray(0, length);
      // Read this file again: the tool may have written to it after the first read, and before it began the next
      // file.
      length += this.#readFrom(file, offset + seen, buffer.subarray(length));
    }
  }

  /** Writes `bytes` over as many bytes at the place, as far as they stand in the current file. */
  overwrite(bytes: Uint8Array): void {
    const { file, offset } = this.#place;
    const room = Math.min(this.fileBytes - offset, bytes.length);
    attempt(() => {
      const fd = openSync(this.#pathOf(file), 'r+');
      writeSync(fd, bytes, 0, room, offset);
      closeSync(fd);
    });
  }

  /** Moves the place over `bytes`, even if they were not read. */
  take(bytes: number): void {
    const left = this.fileBytes - this.#place.offset;
    if (bytes > left && this.hasNext) {
      this.moveOn();
      this.take(bytes - left);
    } else this.#place = { ...this.#place, offset: this.#place.offset + bytes };
  }

  /** Moves to the next file. The finished file stays until `clear`. */
  moveOn(): void {
    this.close();
    this.#place = { file: this.#place.file + 1, offset: 0 };
  }

  /**
   * Goes to the beginning of a file that the tool began again, because the file before it was removed or cut from
   * outside. False: the tool has begun none.
   */
  beginAgain(): boolean {
    const fd = this.#open();
    if (fd === undefined) return false;
    const stat = fstatSync(fd);
    const path = this.#pathOf(this.#place.file);
    if (stat.size >= this.#place.offset && (isInPlace(path, stat) || !existsSync(path))) return false;
    this.close();
    this.#place = { ...this.#place, offset: 0 };
    return true;
  }

  /** Goes to the beginning of the first file: all files were removed from outside, and the tool begins there again. */
  restart(): void {
    this.close();
    this.#place = { file: 0, offset: 0 };
  }

  /** Removes the files before the current file, including those that an earlier owner left. */
  clear(): void {
    for (let file = this.#place.file - 1; file >= 0 && existsSync(this.#pathOf(file)); file--)
      rmSync(this.#pathOf(file), { force: true });
  }

  /** Closes the file; a later read opens it again. Idempotent. */
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
    // The file may not exist yet.
    this.#fd ??= attempt(() => openSync(this.#pathOf(this.#place.file), 'r'));
    return this.#fd;
  }

  #pathOf(file: number): string {
    return join(this.#directory, spoolName(file));
  }
}

export function spoolName(file: number): string {
  return `spool.${String(file).padStart(DIGITS, '0')}`;
}
