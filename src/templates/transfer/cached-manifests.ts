/**
 * Keeps the manifests of the cached trees, one file each: they tell which contents the cache has. A tree without a
 * manifest is complete too, but shares no files.
 */
import { createReadStream } from 'node:fs';
import { mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { replaceFile } from '../../files/replace-file.js';
import type { HashedItem } from '../tree/digest.js';
import { systemCodeOf } from '../tree/system-error.js';
import { bytesOf } from './bundle.js';
import { decodeManifest, encodeManifest } from './manifest.js';

export class CachedManifests {
  readonly #directory: string;

  /** `directory` is made by `start`. */
  constructor(directory: string) {
    this.#directory = directory;
  }

  /** Removes manifests whose tree is gone. */
  async start(isCached: (digest: string) => boolean): Promise<void> {
    await mkdir(this.#directory, { recursive: true, mode: 0o700 });
    for (const name of await readdir(this.#directory))
      if (!isCached(name)) await rm(join(this.#directory, name), { force: true });
  }

  async write(digest: string, items: readonly HashedItem[]): Promise<void> {
    await replaceFile(this.#pathOf(digest), encodeManifest(items));
  }

  /** Undefined when there is none, or it was damaged and is now removed. */
  async read(digest: string): Promise<HashedItem[] | undefined> {
    try {
      return await decodeManifest(bytesOf(createReadStream(this.#pathOf(digest))), digest);
    } catch (error) {
      if (systemCodeOf(error) !== 'ENOENT') await this.remove(digest);
      return undefined;
    }
  }

  async remove(digest: string): Promise<void> {
    await rm(this.#pathOf(digest), { force: true });
  }

  #pathOf(digest: string): string {
    return join(this.#directory, digest);
  }
}
