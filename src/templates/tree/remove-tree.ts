/**
 * Deletes a directory tree that an instance made, at any depth and with any names and permissions, never through a
 * symbolic link. `fs.rm` can be led out of the tree when a directory is swapped for a link in mid-way. Recursion would
 * hold one open file per level.
 */
import { randomBytes } from 'node:crypto';
import { rename, rmdir, unlink } from 'node:fs/promises';
import { systemCodeOf } from '../../files/system-error.js';
import { whileOpen } from '../../files/while-open.js';
import { eachBounded, FILE_PARALLELISM } from '../../loop/each-bounded.js';
import { type DirectoryEntry, OpenDirectory } from './open-directory.js';

/**
 * Deletes `path`: a tree, a file, or a link itself. A missing path is no error, so calls may repeat. Throws the
 * system's error when an entry cannot be deleted.
 */
export async function removeTree(path: string): Promise<void> {
  try {
    await whileOpen(OpenDirectory.openForRemoval(path), (top) => new Removal(top).run());
    await rmdir(path);
  } catch (error) {
    const code = systemCodeOf(error);
    if (code === 'ENOTDIR' || code === 'ELOOP') await unlink(path);
    else if (code !== 'ENOENT') throw error;
  }
}

/**
 * Works on one level only: it moves deeper directories up into the top directory, under unpredictable names, until
 * nothing is left.
 */
class Removal {
  readonly #top: OpenDirectory;
  readonly #prefix = `.drover-${randomBytes(8).toString('hex')}-`;
  #moved = 0;
  #progress = 0;
  #failure: unknown;

  constructor(top: OpenDirectory) {
    this.#top = top;
  }

  async run(): Promise<void> {
    for (;;) {
      const entries = await this.#top.list();
      if (entries.length === 0) return;
      const before = this.#progress;
      await this.#removeFiles(this.#top, entries);
      for (const { name, kind } of entries) if (kind === 'directory') await this.#removeDirectory(name);
      if (this.#progress === before) throw this.#failure;
    }
  }

  async #removeFiles(directory: OpenDirectory, entries: readonly DirectoryEntry[]): Promise<void> {
    const files = entries.filter((entry) => entry.kind !== 'directory');
    await eachBounded(files, FILE_PARALLELISM, undefined, ({ name }) =>
      this.#attempt(() => unlink(directory.entryOf(name))),
    );
  }

  async #removeDirectory(name: Buffer): Promise<void> {
    const path = this.#top.entryOf(name);
    await this.#attempt(async () => {
      await whileOpen(OpenDirectory.openForRemoval(path), async (directory) => {
        const entries = await directory.list();
        await this.#removeFiles(directory, entries);
        for (const entry of entries)
          if (entry.kind === 'directory') await this.#moveUp(directory, entry.name);
      });
      await rmdir(path);
    });
  }

  async #moveUp(directory: OpenDirectory, name: Buffer): Promise<void> {
    const from = directory.entryOf(name);
    await this.#attempt(async () => {
      // Moving a directory rewrites its "..", which needs the right to write in it.
      await (await OpenDirectory.openForRemoval(from)).close();
      await rename(from, this.#top.entry(`${this.#prefix}${this.#moved++}`));
    });
  }

  /** Counts a failure only when a whole pass removes nothing, because another process may change the tree meanwhile. */
  async #attempt(removal: () => Promise<void>): Promise<void> {
    try {
      await removal();
      this.#progress++;
    } catch (error) {
      this.#failure = error;
    }
  }
}
