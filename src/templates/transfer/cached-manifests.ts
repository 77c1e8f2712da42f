/**
 * The manifests of the trees in a wrapper's cache, one file each beside them: they tell which contents the cache has.
 * A tree without one is whole all the same; it only shares nothing.
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

  /** Removes those of trees that are not there any more. */
  async start(isHeld: (digest: string) => boolean): Promise<void> {
    await mkdir(this.#directory, { recursive: true, mode: 0o700 });
    for (const name of await readdir(this.#directory))
      if (!isHeld(name)) await rm(join(this.#directory, name), { force: true });
  }

  async write(digest: string, items: readonly HashedItem[]): Promise<void> {
    await replaceFile(this.#pathOf(digest), encodeManifest(items));
  }

  /** Undefined: there is none, or it is damaged (and then removed). */
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
