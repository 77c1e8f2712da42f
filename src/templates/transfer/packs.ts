/**
 * The contents of a cached tree's files, in a few packs: small files one after the other in one pack, each large file in
 * a pack of its own. A tree of thousands of files is then one file to make and to write through to the disk.
 */
import { randomBytes } from 'node:crypto';
import { readSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import type { HashedItem } from '../tree/digest.js';
import type { TreeItem } from '../tree/tree.js';

/** Larger files have a pack of their own. So an item above this size fills its pack. */
export const MOST_PACKED_BYTES = 256 * 1024;
/** How many bytes are kept in memory before they are written. */
const WRITE_BYTES = 1024 * 1024;

/** Where the content of a file begins. */
export interface Place {
  /** The name of the pack in the directory of the tree. */
  readonly pack: string;
  readonly at: number;
}

/** An item of a cached tree. A directory has no place. */
export interface PackedItem extends TreeItem {
  readonly place: Place | undefined;
}

export type HashedPackedItem = HashedItem & PackedItem;

/** The packs that are being written into one directory. */
export class Packs {
  readonly directory: string;
  /** Makes the names of packs unique: trees share packs under their names, so no two packs may have the same name. */
  readonly #prefix = randomBytes(8).toString('hex');
  readonly #open = new Set<Pack>();
  #small: Promise<Pack> | undefined;
  #made = 0;

  /** `directory`: the tree's directory, which no other process may write. */
  constructor(directory: string) {
    this.directory = directory;
  }

  /** The pack for a file of this size. The file's content goes to the end of the pack. */
  packFor(size: number): Promise<Pack> {
    if (size > MOST_PACKED_BYTES) return this.#make();
    this.#small ??= this.#make();
    return this.#small;
  }

  /** Writes the pack of a large file through to the disk. A pack of small files stays open for more. */
  async complete(pack: Pack, size: number): Promise<void> {
    if (size <= MOST_PACKED_BYTES) return;
    await pack.flush();
    await this.#close(pack);
  }

  /** Resolves when everything is on the disk, except the names of the packs. */
  async flush(): Promise<void> {
    for (const pack of this.#open) await pack.flush();
  }

  /** Closes the packs. Call it also after a failure. Repeatable. */
  async close(): Promise<void> {
    for (const pack of this.#open) await this.#close(pack);
  }

  async #make(): Promise<Pack> {
    const name = `${this.#prefix}-${this.#made++}`;
    const pack = new Pack(name, await open(`${this.directory}/${name}`, 'wx', 0o644));
    this.#open.add(pack);
    return pack;
  }

  async #close(pack: Pack): Promise<void> {
    this.#open.delete(pack);
    await pack.close();
  }
}

class Pack {
  readonly #name: string;
  readonly #file: FileHandle;
  #size = 0;
  /** How many bytes are written through to the disk; -1: not even the name of the pack is on the disk. */
  #flushedBytes = -1;
  #waiting: Buffer[] = [];
  #waitingBytes = 0;
  /** The writes under way, one after the other. After a failure no further write begins. */
  #writing: Promise<void> = Promise.resolve();

  constructor(name: string, file: FileHandle) {
    this.#name = name;
    this.#file = file;
  }

  /** The place of the content that is added next. */
  get end(): Place {
    return { pack: this.#name, at: this.#size };
  }

  /**
   * Adds bytes to the end; they must not change afterwards. Calls may overlap, and keep their order. Resolves when
   * there is room for more. Throws the failure of an earlier write.
   */
  async add(bytes: Buffer): Promise<void> {
    this.#size += bytes.length;
    this.#waiting.push(bytes);
    this.#waitingBytes += bytes.length;
    if (this.#waitingBytes < WRITE_BYTES) return;
    const before = this.#writing;
    this.#beginWrite();
    await before;
  }

  /** Resolves when everything that was added so far can be read. */
  async written(): Promise<void> {
    this.#beginWrite();
    await this.#writing;
  }

  /** Resolves when everything that was added is on the disk. */
  async flush(): Promise<void> {
    await this.written();
    if (this.#flushedBytes === this.#size) return;
    const bytes = this.#size;
    await this.#file.sync();
    this.#flushedBytes = bytes;
  }

  async close(): Promise<void> {
    await this.#writing.catch(() => undefined);
    await this.#file.close();
  }

  #beginWrite(): void {
    const [buffers, bytes] = [this.#waiting, this.#waitingBytes];
    this.#waiting = [];
    this.#waitingBytes = 0;
    if (bytes === 0) return;
    this.#writing = this.#writing.then(() => this.#write(buffers, bytes));
    // The caller that waits next gets the failure.
    this.#writing.catch(() => undefined);
  }

  async #write(buffers: readonly Buffer[], bytes: number): Promise<void> {
    const { bytesWritten } = await this.#file.writev(buffers);
    // A nearly full disk takes only a part of the bytes. Writing the rest throws the reason.
    if (bytesWritten < bytes) await this.#file.writeFile(Buffer.concat(buffers).subarray(bytesWritten));
  }
}

const buffer = Buffer.allocUnsafeSlow(MOST_PACKED_BYTES);

/**
 * Reads up to MOST_PACKED_BYTES; fewer than `size` when the pack ends before. The bytes are valid until the next call.
 */
export function readPack(file: number, { at, size }: { readonly at: number; readonly size: number }): Buffer {
  let done = 0;
  while (done < size) {
    const bytes = readSync(file, buffer, done, size - done, at + done);
    if (bytes === 0) break;
    done += bytes;
  }
  return buffer.subarray(0, done);
}
