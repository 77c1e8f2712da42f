/**
 * Walks a template tree: regular files and directories only, links never followed. The library calls it for templates
 * as operators write them, the cache for unpacked trees. It reads no contents.
 */

import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import { lstat } from 'node:fs/promises';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { isMissing, systemCodeOf } from '../../files/system-error.js';
import { whileOpen } from '../../files/while-open.js';
import { eachBounded, FILE_PARALLELISM } from '../../loop/each-bounded.js';
import { DroverError, templateUnsafe } from '../../model/errors.js';
import { kindOf, OpenDirectory } from './open-directory.js';

/** The limits for one template, the same wherever it comes from and goes to. */
export interface TreeLimits {
  /** Directories count, too. */
  readonly maxEntries: number;
  /** The limit for the bytes of all files together. */
  readonly maxBytes: number;
}

export const TREE_LIMITS: TreeLimits = { maxEntries: 200_000, maxBytes: 64 * 1024 ** 3 };
/** The limit for the levels of directories, the tree itself included. */
export const MAX_TREE_DEPTH = 64;
const STEADY_ATTEMPTS = 3;
/** How many entries are handled between two turns of the event loop. */
const ENTRIES_PER_TURN = 1000;

/** One file or directory of a tree. */
export interface TreeItem {
  /** The path relative to the tree, with forward slashes. */
  readonly path: string;
  readonly kind: 'file' | 'directory';
  /** True when the owner may execute the file; false for a directory. */
  readonly executable: boolean;
  /** The size in bytes; 0 for a directory. */
  readonly size: number;
}

/** The facts of `stat` about an item: equal facts mean an unchanged item. */
export interface StatFacts {
  readonly ino: bigint;
  readonly mode: bigint;
  readonly size: bigint;
  readonly mtimeNs: bigint;
  /**
   * The time of the last change of the inode. No program can set it back, so it shows changes by tools that keep the
   * modification time.
   */
  readonly ctimeNs: bigint;
}

export interface TreeEntry extends TreeItem {
  readonly stat: StatFacts;
}

/** A tree on disk; `label` names it in messages, such as `template lobby/paper`. */
export interface TreePlace {
  readonly root: string;
  readonly label: string;
}

/** Thrown when the tree kept changing while it was read: somebody is writing it now, so a later try finds it whole. */
export class TreeUnsteady extends DroverError {}

/** Thrown when the tree changed while it was read. Reading it again helps. */
export class TreeChanged extends Error {
  override readonly name = 'TreeChanged';
}

/**
 * All entries of the tree, parents before children, siblings in the order of their bytes. Throws ENOENT when there is
 * no such tree, TreeChanged, and DRV_TEMPLATE_UNSAFE, naming the path, for an entry that is neither a file nor a
 * directory.
 */
export async function walkTree(place: TreePlace, signal: AbortSignal): Promise<TreeEntry[]> {
  const walk = new TreeWalk(place, signal);
  const root = OpenDirectory.open(place.root).catch((error: unknown) => {
    if (isMissing(error)) throw error;
    throw unsafe(place, '.', `is not a readable directory (${systemCodeOf(error)})`);
  });
  await whileOpen(root, (directory) => walk.visit(directory, '', 1));
  return walk.entries;
}

/** The entry of a single file in a directory, as a walk would find it. Throws as `walkTree` does. */
export async function walkFile(place: TreePlace, name: string): Promise<TreeEntry> {
  const walk = new TreeWalk(place, new AbortController().signal);
  return await whileOpen(OpenDirectory.open(place.root), (root) => walk.statEntry(root, name, name));
}

/**
 * Calls `read`, and calls it again when the tree changed under it. Throws DRV_TEMPLATE_UNSAFE when the tree keeps
 * changing.
 */
export async function readSteadily<T>(read: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++)
    try {
      return await read();
    } catch (error) {
      if (!(error instanceof TreeChanged)) throw error;
      if (attempt < STEADY_ATTEMPTS) continue;
      const message = `${error.message}, ${STEADY_ATTEMPTS} times in a row`;
      throw new TreeUnsteady('DRV_TEMPLATE_UNSAFE', message);
    }
}

/** A short text that changes when the path, size, times, inode or mode of any entry does. */
export async function signatureOf(entries: readonly TreeEntry[]): Promise<string> {
  const hash = createHash('sha256');
  let count = 0;
  for (const { path, stat } of entries) {
    hash.update(`${path}\0${stat.size} ${stat.mtimeNs} ${stat.ctimeNs} ${stat.ino} ${stat.mode}\0`);
    if (++count % ENTRIES_PER_TURN === 0) await nextTurn();
  }
  return hash.digest('hex');
}

/** The time of the last change in the tree, in Unix milliseconds; 0 for an empty tree. */
export function lastChangeOf(entries: readonly TreeEntry[]): number {
  return entries.reduce((latest, { stat }) => Math.max(latest, Number(stat.ctimeNs / 1_000_000n)), 0);
}

/** A DRV_TEMPLATE_UNSAFE for one path of a tree. */
export function unsafe(place: TreePlace, path: string, what: string): DroverError {
  return templateUnsafe(
    `${place.label}: ${path} ${what}; a template holds readable regular files and directories only`,
  );
}

class TreeWalk {
  readonly entries: TreeEntry[] = [];
  readonly #place: TreePlace;
  readonly #signal: AbortSignal;

  constructor(place: TreePlace, signal: AbortSignal) {
    this.#place = place;
    this.#signal = signal;
  }

  async visit(directory: OpenDirectory, prefix: string, depth: number): Promise<void> {
    if (depth > MAX_TREE_DEPTH)
      throw unsafe(this.#place, prefix, `lies deeper than ${MAX_TREE_DEPTH} levels`);
    for (const { name, entry } of await this.#statAll(directory, prefix)) {
      this.entries.push(entry);
      if (this.entries.length > TREE_LIMITS.maxEntries)
        throw unsafe(this.#place, entry.path, `is beyond the limit of ${TREE_LIMITS.maxEntries} entries`);
      if (entry.kind === 'directory') await this.#descend(directory, name, entry.path, depth);
    }
  }

  async #descend(parent: OpenDirectory, name: string, path: string, depth: number): Promise<void> {
    const opening = this.#guard(path, () => parent.child(name));
    await whileOpen(opening, (child) => this.visit(child, `${path}/`, depth + 1));
  }

  async #statAll(directory: OpenDirectory, prefix: string): Promise<{ name: string; entry: TreeEntry }[]> {
    const listed = (await directory.list()).map(({ name }) => name).sort(Buffer.compare);
    const found = new Array<{ name: string; entry: TreeEntry }>(listed.length);
    await eachBounded(listed.entries(), FILE_PARALLELISM, this.#signal, async ([index, bytes]) => {
      const name = bytes.toString();
      if (!isUtf8(bytes)) throw unsafe(this.#place, prefix + name, 'has a name that is not UTF-8');
      found[index] = { name, entry: await this.statEntry(directory, name, prefix + name) };
    });
    return found;
  }

  async statEntry(directory: OpenDirectory, name: string, path: string): Promise<TreeEntry> {
    const stat = await this.#guard(path, () => lstat(directory.entry(name), { bigint: true }));
    const kind = kindOf(stat);
    if (kind === 'link') throw unsafe(this.#place, path, 'is a symbolic link');
    if (kind === 'other') throw unsafe(this.#place, path, 'is a device, socket or pipe');
    const isFile = kind === 'file';
    return {
      path,
      kind,
      executable: isFile && (stat.mode & 0o100n) !== 0n,
      size: isFile ? Number(stat.size) : 0,
      stat: factsOf(stat),
    };
  }

  async #guard<T>(path: string, read: () => Promise<T>): Promise<T> {
    try {
      return await read();
    } catch (error) {
      const code = systemCodeOf(error);
      if (code === 'EACCES' || code === 'EPERM') throw unsafe(this.#place, path, 'cannot be read');
      if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'ELOOP')
        throw new TreeChanged(`${this.#place.label}: ${path} changed while it was read`);
      throw error;
    }
  }
}

/** A copy of the needed fields: a BigIntStats object is many times larger. */
export function factsOf({ ino, mode, size, mtimeNs, ctimeNs }: StatFacts): StatFacts {
  return { ino, mode, size, mtimeNs, ctimeNs };
}
