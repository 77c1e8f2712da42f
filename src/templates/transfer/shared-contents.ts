/**
 * Takes contents into a new tree from other trees of the cache. Where most of a pack is wanted, the pack is shared by a
 * hard link, because no process changes a pack. From other packs the wanted contents are copied, so that unwanted
 * contents do not stay on the disk for long. Each content is read and hashed all the same.
 */
import { hash as hashOf } from 'node:crypto';
import { constants, type FileHandle, open, unlink } from 'node:fs/promises';
import { basename } from 'node:path';
import { isMissing } from '../../files/system-error.js';
import { whileOpen } from '../../files/while-open.js';
import { eachBounded, FILE_PARALLELISM } from '../../loop/each-bounded.js';
import { linkOrCopy } from '../tree/copy-tree.js';
import type { HashedItem } from '../tree/digest.js';
import { ContentHashes } from './content-hashes.js';
import type { Source } from './delta.js';
import type { PackThreads } from './pack-threads.js';
import { MOST_PACKED_BYTES, type Packs, type Place } from './packs.js';

/** A pack is shared when at least this part of its bytes is wanted. */
const SHARED_PART = 1 / 2;

/** A content to take, by the index of its item. */
interface Content {
  readonly index: number;
  readonly item: HashedItem;
  readonly place: Place;
}

interface SharedContentsOptions {
  readonly wanted: readonly HashedItem[];
  /** The packs of the new tree. */
  readonly packs: Packs;
  readonly threads: PackThreads;
  readonly signal: AbortSignal;
}

export class SharedContents {
  readonly #options: SharedContentsOptions;
  /** The places of the taken contents in the new tree, by index. */
  readonly places = new Map<number, Place>();
  /** The indexes of contents whose source is missing or damaged. */
  readonly damaged = new Set<number>();

  constructor(options: SharedContentsOptions) {
    this.#options = options;
  }

  /** Takes the contents of these items, by their indexes. */
  async take(sources: ReadonlyMap<number, Source>): Promise<void> {
    const { wanted, signal } = this.#options;
    const byPack = new Map<string, Content[]>();
    for (const [index, { directory, place }] of sources) {
      const item = wanted[index];
      if (item === undefined) continue;
      const path = `${directory}/${place.pack}`;
      const known = byPack.get(path);
      if (known === undefined) byPack.set(path, [{ index, item, place }]);
      else known.push({ index, item, place });
    }
    await eachBounded(byPack, FILE_PARALLELISM, signal, ([path, contents]) => this.#takeFrom(path, contents));
  }

  async #takeFrom(path: string, contents: readonly Content[]): Promise<void> {
    try {
      await whileOpen(open(path, constants.O_RDONLY | constants.O_NOFOLLOW), async (file) => {
        const { size } = await file.stat();
        const fitting = contents.filter((content) => this.#fits(content, size));
        // Several items may have the same content, which counts once.
        const lengths = new Map(fitting.map(({ item, place }) => [place.at, item.size]));
        const bytes = [...lengths.values()].reduce((sum, length) => sum + length, 0);
        if (bytes >= size * SHARED_PART) await this.#share(path, fitting);
        else await this.#copy(file, fitting);
      });
    } catch (error) {
      if (!isMissing(error)) throw error;
      for (const { index } of contents) this.damaged.add(index);
    }
  }

  /** True when the content lies within its pack. A large content must be all of its pack. */
  #fits({ index, item, place }: Content, packBytes: number): boolean {
    const isAlone = item.size > MOST_PACKED_BYTES;
    const fits = isAlone ? item.size === packBytes : place.at + item.size <= packBytes;
    if (!fits) this.damaged.add(index);
    return fits;
  }

  async #share(path: string, contents: readonly Content[]): Promise<void> {
    const { packs, threads, signal } = this.#options;
    const target = `${packs.directory}/${basename(path)}`;
    await linkOrCopy(path, target);
    let isUsed = false;
    const hashes = new ContentHashes(threads, signal);
    for (const { index, item, place } of contents)
      hashes.add({
        pack: target,
        at: place.at,
        size: item.size,
        take: (actual) => {
          if (item.hash?.equals(actual) === true) {
            this.places.set(index, place);
            isUsed = true;
          } else this.damaged.add(index);
        },
      });
    await hashes.done();
    if (!isUsed) await unlink(target);
  }

  /** Copies small contents. A large content is all of its pack, which is shared. */
  async #copy(file: FileHandle, contents: readonly Content[]): Promise<void> {
    const { packs, signal } = this.#options;
    for (const { index, item, place } of contents) {
      signal.throwIfAborted();
      const bytes = await readSound(file, item, place);
      if (bytes === undefined) this.damaged.add(index);
      else {
        const pack = await packs.packFor(bytes.length);
        this.places.set(index, pack.end);
        await pack.add(bytes);
      }
    }
  }
}

/** The content; undefined when it is damaged. */
async function readSound(
  file: FileHandle,
  { size, hash }: HashedItem,
  { at }: Place,
): Promise<Buffer | undefined> {
  const buffer = Buffer.allocUnsafe(size);
  const { bytesRead } = await file.read(buffer, 0, size, at);
  const isRight = bytesRead === size && hash?.equals(hashOf('sha256', buffer, 'buffer')) === true;
  return isRight ? buffer : undefined;
}
