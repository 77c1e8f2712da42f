/**
 * A chain of directories, each opened inside the one before and held open. No symbolic link is followed, and a link
 * that is put in the way later leads nowhere else. Every file of a template is reached through such a chain.
 */
import { lstat, mkdir, rmdir } from 'node:fs/promises';
import { isMissing, systemCodeOf } from '../../files/system-error.js';
import { DroverError } from '../../model/errors.js';
import type { UserIds } from '../../model/names.js';
import { type EntryKind, kindOf, OpenDirectory } from './open-directory.js';

/** The entry that stands in the place of a directory. */
export type Obstacle = 'absent' | 'file';

export class DirectoryPath {
  readonly #chain: { readonly name: string; readonly directory: OpenDirectory }[] = [];
  /** The index in the chain of the first directory that this path has made. */
  #madeFrom = Number.POSITIVE_INFINITY;

  private constructor(root: OpenDirectory) {
    this.#chain.push({ name: '', directory: root });
  }

  /**
   * Opens `names` below the directory `root`, which itself may be a link. With `make`, missing directories are made.
   * Answers with the obstacle when a directory is missing or a file stands in its place. Throws DRV_PATH_UNSAFE for a
   * link. The caller closes the path.
   */
  static async open(
    root: string,
    names: readonly string[],
    { make }: { readonly make: boolean },
  ): Promise<DirectoryPath | Obstacle> {
    // The final `/.` makes the system follow `root` when it is a link.
    const path = new DirectoryPath(await OpenDirectory.open(`${root}/.`));
    let isWhole = false;
    try {
      for (const name of names) {
        const obstacle = await path.#descend(name, make);
        if (obstacle !== undefined) return obstacle;
      }
      isWhole = true;
      return path;
    } finally {
      if (!isWhole) {
        await path.undo();
        await path.close();
      }
    }
  }

  get last(): OpenDirectory {
    return this.#at(this.#chain.length - 1).directory;
  }

  /** Syncs the last directory and the parents of the directories that were made. */
  async sync(): Promise<void> {
    const from = Math.min(this.#madeFrom - 1, this.#chain.length - 1);
    for (const { directory } of this.#chain.slice(from)) await directory.sync();
  }

  /** Gives the directories that `open` made to a user. */
  async give(owner: UserIds): Promise<void> {
    for (const { directory } of this.#chain.slice(this.#madeFrom))
      await directory.give((await directory.status()).uid, owner);
  }

  /** Removes the directories that `open` made, as far as they are empty. */
  async undo(): Promise<void> {
    await this.#removeEmpty(this.#madeFrom);
  }

  /** Removes the last directory and its parents while they are empty, but none of the first `keep` names. */
  async prune(keep: number): Promise<void> {
    await this.#removeEmpty(keep + 1);
  }

  async close(): Promise<void> {
    for (const { directory } of this.#chain) await directory.close();
  }

  async #removeEmpty(from: number): Promise<void> {
    for (let index = this.#chain.length - 1; index >= from; index--) {
      try {
        await rmdir(this.#at(index - 1).directory.entry(this.#at(index).name));
      } catch {
        // The directory is not empty, or belongs to another user: then its parents are not empty either.
        return;
      }
    }
  }

  async #descend(name: string, make: boolean): Promise<Obstacle | undefined> {
    const parent = this.last;
    const obstacle = await this.#enter(parent, name);
    if (obstacle !== 'absent' || !make) return obstacle;
    await mkdir(parent.entry(name), 0o755).catch((error: unknown) => {
      if (systemCodeOf(error) !== 'EEXIST') throw error;
    });
    this.#madeFrom = Math.min(this.#madeFrom, this.#chain.length);
    return this.#enter(parent, name);
  }

  async #enter(parent: OpenDirectory, name: string): Promise<Obstacle | undefined> {
    try {
      this.#chain.push({ name, directory: await parent.child(name) });
      return undefined;
    } catch (error) {
      const code = systemCodeOf(error);
      if (code === 'ENOENT') return 'absent';
      if (code === 'EACCES') throw unsafePath(`the directory ${name} cannot be read`);
      if (code !== 'ENOTDIR' && code !== 'ELOOP') throw error;
    }
    const kind = await kindAt(parent, name);
    if (kind === 'file' || kind === 'other') return 'file';
    if (kind === undefined) return 'absent';
    throw linkInTheWay(name);
  }

  #at(index: number): { readonly name: string; readonly directory: OpenDirectory } {
    const link = this.#chain[index];
    if (link === undefined) throw new RangeError(`no directory at ${index}`);
    return link;
  }
}

/** The kind of the entry `name` in `parent`, without following a link; undefined when there is no such entry. */
export async function kindAt(parent: OpenDirectory, name: string): Promise<EntryKind | undefined> {
  try {
    return kindOf(await lstat(parent.entry(name)));
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

export function linkInTheWay(name: string): DroverError {
  return unsafePath(`${name} is a symbolic link, or was one a moment ago, and links are not followed`);
}

function unsafePath(what: string): DroverError {
  return new DroverError('DRV_PATH_UNSAFE', `the path is refused: ${what}`);
}
