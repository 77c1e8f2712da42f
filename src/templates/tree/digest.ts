/**
 * Computes the name of a tree from its content: SHA-256 over the sorted paths, the executable bits, sizes and contents.
 * Master and wrapper compute it alike, so that computing it again proves a transfer.
 */
import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { IS_POINTER, LFS_POINTER } from '../../files/git-leftovers.js';
import { systemCodeOf } from '../../files/system-error.js';
import { eachBounded, FILE_PARALLELISM } from '../../loop/each-bounded.js';
import { type DroverError, templateUnsafe } from '../../model/errors.js';
import {
  factsOf,
  type StatFacts,
  TreeChanged,
  type TreeEntry,
  type TreeItem,
  type TreePlace,
  unsafe,
} from './tree.js';

/** O_NONBLOCK so that a pipe put in a file's place cannot make us wait. */
const READ = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
const CHUNK_BYTES = 256 * 1024;
const ENTRIES_PER_TURN = 1000;
const POINTER = Buffer.from(LFS_POINTER);
const DIGEST = /^[0-9a-f]{64}$/;

/** An item of a tree with the SHA-256 of its content. A directory has no hash. */
export interface HashedItem extends TreeItem {
  readonly hash: Buffer | undefined;
}

/**
 * The hashes of files that were read before, by path. A hash is good as long as the stat facts of its file are the
 * same.
 */
export type KnownHashes = ReadonlyMap<string, { readonly stat: StatFacts; readonly hash: Buffer }>;

/** True when `text` has the form of a digest; check before it becomes part of a path. */
export function isDigest(text: string): boolean {
  return DIGEST.test(text);
}

/** The digest (64 hex digits) of a walked tree. Throws TreeChanged when a file is not what the walk saw. */
export async function digestTree(
  place: TreePlace,
  entries: readonly TreeEntry[],
  signal: AbortSignal,
): Promise<string> {
  return digestOf(await hashTree(place, entries, signal));
}

/** The digest of a tree whose contents are all known by their hashes, in the order of a walk. */
export async function digestOf(items: readonly HashedItem[]): Promise<string> {
  const hash = createHash('sha256').update('drover tree 1\n');
  for (const [index, { path, kind, executable, size, hash: content }] of items.entries()) {
    // JSON keeps the fields apart, whatever a path holds.
    hash.update(`${JSON.stringify([kind, executable, size, path])}\n`);
    if (content !== undefined) hash.update(content);
    if (index % ENTRIES_PER_TURN === 0) await nextTurn();
  }
  return hash.digest('hex');
}

/** Reads every file of a walked tree that is not `known`. Throws TreeChanged when a file has changed since the walk. */
export async function hashTree(
  place: TreePlace,
  entries: readonly TreeEntry[],
  signal: AbortSignal,
  known: KnownHashes = new Map(),
): Promise<HashedItem[]> {
  const contents = new Array<Buffer | undefined>(entries.length);
  await eachBounded(entries.entries(), FILE_PARALLELISM, signal, async ([index, entry]) => {
    if (entry.kind === 'directory') return;
    const before = known.get(entry.path);
    if (before !== undefined && isSame(before.stat, entry.stat)) {
      contents[index] = before.hash;
      return;
    }
    const hash = createHash('sha256');
    let isFirst = true;
    for await (const chunk of readContent(place, entry, signal)) {
      if (isFirst && chunk.subarray(0, POINTER.length).equals(POINTER)) throw pointer(place, entry);
      isFirst = false;
      hash.update(chunk);
    }
    contents[index] = hash.digest();
  });
  return entries.map(({ path, kind, executable, size }, index) => ({
    path,
    kind,
    executable,
    size,
    hash: contents[index],
  }));
}

/** The bytes of one walked file. Throws TreeChanged when the file has changed since the walk, or changes meanwhile. */
export async function* readContent(
  place: TreePlace,
  entry: TreeEntry,
  signal: AbortSignal,
): AsyncGenerator<Buffer> {
  const file = await openEntry(place, entry);
  try {
    // The same inode proves that no parent was swapped for a link since the walk.
    if (!isSame(factsOf(await file.stat({ bigint: true })), entry.stat)) throw changed(place, entry);
    let left = entry.size;
    while (left > 0) {
      signal.throwIfAborted();
      const buffer = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, left));
      const { bytesRead } = await file.read(buffer, 0, buffer.length);
      if (bytesRead === 0) throw changed(place, entry);
      left -= bytesRead;
      yield buffer.subarray(0, bytesRead);
    }
  } finally {
    await file.close();
  }
}

function openEntry(place: TreePlace, entry: TreeEntry): Promise<FileHandle> {
  return open(`${place.root}/${entry.path}`, READ).catch((error: unknown) => {
    const code = systemCodeOf(error);
    if (code === 'EACCES' || code === 'EPERM') throw unsafe(place, entry.path, 'cannot be read');
    if (code === 'ENOENT' || code === 'ELOOP' || code === 'ENOTDIR' || code === 'ENXIO')
      throw changed(place, entry);
    throw error;
  });
}

function isSame(a: StatFacts, b: StatFacts): boolean {
  return (
    a.ino === b.ino &&
    a.mode === b.mode &&
    a.size === b.size &&
    a.mtimeNs === b.mtimeNs &&
    a.ctimeNs === b.ctimeNs
  );
}

/** Instances wait for the file itself: a program could not run with the pointer. */
function pointer({ label }: TreePlace, { path }: TreeEntry): DroverError {
  return templateUnsafe(`${label}: ${path} ${IS_POINTER}`);
}

function changed(place: TreePlace, entry: TreeEntry): TreeChanged {
  return new TreeChanged(`${place.label}: ${entry.path} changed while it was read`);
}
