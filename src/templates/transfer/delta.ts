/**
 * Builds a tree of the cache from files of other cached trees, and tells which files are still missing. Files are
 * shared by hard links inside the cache, where no process changes them. Each one is read and hashed all the same.
 */

import { createHash } from 'node:crypto';
import { chmod, constants, copyFile, link, lstat, mkdir, open, unlink } from 'node:fs/promises';
import { syncPath } from '../../files/sync-path.js';
import type { FileRange } from '../../model/template.js';
import type { HashedItem } from '../tree/digest.js';
import { eachBounded, FILE_PARALLELISM } from '../tree/each-bounded.js';
import { systemCodeOf } from '../tree/system-error.js';
import { corrupt, namingEntry } from './bundle.js';

const CHUNK_BYTES = 256 * 1024;
const COPY_INSTEAD = new Set(['EXDEV', 'EPERM', 'EMLINK', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS']);

/** A tree that is in the cache. */
export interface Base {
  readonly digest: string;
  readonly directory: string;
  readonly items: readonly HashedItem[];
}

/** The place of a wanted file's content in a cached tree. */
export interface Source {
  readonly digest: string;
  readonly path: string;
  /** Its executable bit is the wanted one, so the file itself can be shared. */
  readonly isAlike: boolean;
}

/**
 * Finds the content of wanted items in `bases`, by the index of the item. A missing content has no entry. `bases` is
 * read only as far as needed.
 */
export async function chooseSources(
  wanted: readonly HashedItem[],
  bases: AsyncIterable<Base>,
): Promise<Map<number, Source>> {
  const places = new Map<string, number[]>();
  for (const [index, { hash }] of wanted.entries()) {
    if (hash === undefined) continue;
    const key = hash.toString('base64');
    const known = places.get(key);
    if (known === undefined) places.set(key, [index]);
    else known.push(index);
  }
  const sources = new Map<number, Source>();
  for await (const { digest, directory, items } of bases) {
    if (places.size === 0) break;
    for (const { hash, path, executable } of items) {
      const key = hash?.toString('base64') ?? '';
      for (const index of places.get(key) ?? []) {
        const isAlike = wanted[index]?.executable === executable;
        sources.set(index, { digest, path: `${directory}/${path}`, isAlike });
      }
      places.delete(key);
    }
  }
  return sources;
}

/**
 * Makes the directories of `wanted` and the files that have a source. Resolves with the indexes whose source proved
 * damaged.
 */
export async function placeShared(
  wanted: readonly HashedItem[],
  sources: ReadonlyMap<number, Source>,
  directory: string,
  signal: AbortSignal,
): Promise<Set<number>> {
  for (const { path, kind } of wanted)
    if (kind === 'directory') await mkdir(`${directory}/${path}`, 0o755).catch(namingEntry(path));
  const damaged = new Set<number>();
  await eachBounded(sources, FILE_PARALLELISM, signal, async ([index, source]) => {
    const item = wanted[index];
    if (item === undefined) return;
    const target = `${directory}/${item.path}`;
    if (await isPlaced(source, item, target)) return;
    damaged.add(index);
    await unlink(target).catch(() => undefined);
  });
  return damaged;
}

/** The missing files, as ranges of neighbours in the manifest. */
export function missingRanges(
  wanted: readonly HashedItem[],
  isShared: (index: number) => boolean,
): { readonly ranges: FileRange[]; readonly files: number; readonly bytes: number } {
  const ranges: [number, number][] = [];
  let files = 0;
  let bytes = 0;
  for (const [index, { kind, size }] of wanted.entries()) {
    if (kind === 'directory' || isShared(index)) continue;
    files++;
    bytes += size;
    const last = ranges.at(-1);
    if (last !== undefined && last[0] + last[1] === index) last[1]++;
    else ranges.push([index, 1]);
  }
  return { ranges, files, bytes };
}

/** Throws DRV_TEMPLATE_CORRUPT unless exactly the files of these ranges came, each with its hash. */
export function checkReceived(
  received: readonly HashedItem[],
  wanted: readonly HashedItem[],
  ranges: readonly FileRange[],
): void {
  const expected = ranges.flatMap(([first, count]) => wanted.slice(first, first + count));
  const files = expected.filter(({ kind }) => kind === 'file');
  if (received.length !== files.length) throw corrupt('it holds other files than were asked for');
  for (const [index, file] of files.entries()) {
    const came = received[index];
    const isRight =
      came?.path === file.path &&
      came.executable === file.executable &&
      file.hash !== undefined &&
      came.hash?.equals(file.hash) === true;
    if (!isRight) throw corrupt('a file of it was damaged or changed on the way');
  }
}

/** Answers false when the source is missing, or is not what it should be. */
async function isPlaced(source: Source, item: HashedItem, target: string): Promise<boolean> {
  try {
    await share(source, item, target);
    return item.hash !== undefined && (await hashFile(target, item.size))?.equals(item.hash) === true;
  } catch (error) {
    if (systemCodeOf(error) === 'ENOENT') return false;
    throw error;
  }
}

async function share({ path, isAlike }: Source, { executable }: HashedItem, target: string): Promise<void> {
  if (isAlike)
    try {
      await link(path, target);
      return;
    } catch (error) {
      if (!COPY_INSTEAD.has(systemCodeOf(error) ?? '')) throw error;
    }
  await copyFile(path, target, constants.COPYFILE_FICLONE | constants.COPYFILE_EXCL);
  await syncPath(target);
  if (isAlike) return;
  const { mode } = await lstat(path);
  // Execution is allowed where reading is: the umask was applied when the source was made.
  await chmod(target, executable ? mode | ((mode & 0o444) >> 2) : mode & ~0o111);
}

/** Undefined when the file has another size. */
async function hashFile(path: string, size: number): Promise<Buffer | undefined> {
  const hash = createHash('sha256');
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    // One byte more shows whether the file is longer.
    let left = size + 1;
    const buffer = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, left));
    while (left > 0) {
      const { bytesRead } = await file.read(buffer, 0, Math.min(buffer.length, left));
      if (bytesRead === 0) break;
      hash.update(buffer.subarray(0, bytesRead));
      left -= bytesRead;
      // The usual small file is read in one go.
      if (left === 1 && bytesRead < buffer.length) break;
    }
    return left === 1 ? hash.digest() : undefined;
  } finally {
    await file.close();
  }
}
