/**
 * Says of files in a directory which commit they come from, and whether they are as that commit has them. It reads
 * `.git` by itself: it starts no program, follows no hook or filter, and believes no length that it has not checked.
 */
import { createHash } from 'node:crypto';
import { type BigIntStats, constants } from 'node:fs';
import { lstat, open } from 'node:fs/promises';
import { join } from 'node:path';
import { type BoundedFile, readBounded } from './bounded-file.js';
import { blobsIn } from './commit-tree.js';
import { type IndexEntry, parseIndex } from './index-file.js';
import { GitObjects } from './objects.js';
import { findWorkTree, headOf } from './work-tree.js';

/** Where a file's content comes from. */
export interface GitOrigin {
  /** The commit that the work tree is at, in full. */
  readonly commit: string;
  /** The file is not as the commit has it. Null: that cannot be known, as for a symbolic link, whose target may change. */
  readonly isDirty: boolean | null;
}

const MAX_INDEX_BYTES = 32 * 1024 * 1024;
/** A larger file that was touched is not read: no configuration is as large. */
const MAX_HASHED_BYTES = 1024 * 1024;
const FILES_AT_ONCE = 32;
const BITS_32 = 0xffffffffn;
const REGULAR = 0o100000;
const KIND_BITS = 0o170000;

/** What is known of the work tree for one question. */
interface Known {
  readonly directory: string;
  readonly prefix: string;
  readonly commit: string;
  /** What the commit has, by name of the file; undefined: not known. */
  readonly committed: ReadonlyMap<string, string> | undefined;
  /** By path in the work tree; undefined: not known. */
  readonly index: ReadonlyMap<string, IndexEntry> | undefined;
  /** When the index was written, in nanoseconds: what changed since, or at the same time, may look unchanged. */
  readonly indexAt: bigint;
}

/**
 * The origins of `files`, names in `directory`. Empty: the directory is in no work tree, or in one whose commit does not
 * have it. Never throws. Asks the disk anew each time: for files that changed, one read of each.
 */
export async function gitOriginsOf(
  directory: string,
  files: readonly string[],
): Promise<ReadonlyMap<string, GitOrigin>> {
  const origins = new Map<string, GitOrigin>();
  const known = await knownOf(directory, files);
  if (known === undefined) return origins;
  for (let from = 0; from < files.length; from += FILES_AT_ONCE) {
    const some = files.slice(from, from + FILES_AT_ONCE);
    const dirty = await Promise.all(some.map((file) => isDirty(known, file)));
    for (const [index, file] of some.entries())
      origins.set(file, { commit: known.commit, isDirty: dirty[index] ?? null });
  }
  return origins;
}

async function knownOf(directory: string, files: readonly string[]): Promise<Known | undefined> {
  const tree = await findWorkTree(directory);
  const commit = tree && (await headOf(tree));
  if (tree === undefined || commit === undefined) return undefined;
  const prefix = tree.prefix === '' ? '' : `${tree.prefix}/`;
  const committed = await blobsIn(new GitObjects(tree.commonDirectory), commit, tree.prefix);
  if (committed === null) return undefined;
  const file = await readBounded(join(tree.gitDirectory, 'index'), MAX_INDEX_BYTES);
  return {
    directory,
    prefix,
    commit,
    committed,
    ...indexIn(file, new Set(files.map((name) => prefix + name)), commit),
  };
}

function indexIn(
  file: BoundedFile | undefined,
  paths: ReadonlySet<string>,
  commit: string,
): Pick<Known, 'index' | 'indexAt'> {
  if (file === undefined) return { index: undefined, indexAt: 0n };
  return { index: parseIndex(file.bytes, paths, commit.length / 2), indexAt: file.status.mtimeNs };
}

async function isDirty(known: Known, file: string): Promise<boolean | null> {
  const { committed, index, prefix } = known;
  const blob = committed?.get(file);
  if (committed !== undefined && blob === undefined) return true;
  const status = await lstat(join(known.directory, file), { bigint: true }).catch(() => undefined);
  if (status === undefined) return true;
  if (!status.isFile()) return null;
  const entry = index?.get(prefix + file);
  if (entry?.isUnsettled === true || (index !== undefined && entry === undefined)) return true;
  // What was added to the index since the commit is not of the commit.
  if (entry !== undefined && blob !== undefined && entry.blob !== blob) return true;
  // Without its objects a commit cannot be compared: what was added since is not told apart.
  if (blob === undefined) return null;
  if (entry !== undefined && isUntouched(known, entry, status)) return false;
  const now = await blobOf(join(known.directory, file), blob.length);
  return now === undefined ? null : now !== blob;
}

/**
 * The file is the one that git wrote or added, by git's own rules. A filter of git's, such as one for the ends of lines,
 * may make its bytes other than the blob's; so this counts before the bytes do.
 */
function isUntouched({ indexAt }: Known, entry: IndexEntry, status: BigIntStats): boolean {
  const isSame =
    (entry.mode & KIND_BITS) === REGULAR &&
    entry.size === low(status.size) &&
    entry.inode === low(status.ino) &&
    entry.modifiedSeconds === low(status.mtimeNs / 1_000_000_000n) &&
    entry.modifiedNanoseconds === low(status.mtimeNs % 1_000_000_000n) &&
    entry.changedSeconds === low(status.ctimeNs / 1_000_000_000n) &&
    entry.changedNanoseconds === low(status.ctimeNs % 1_000_000_000n);
  return isSame && status.mtimeNs < indexAt;
}

function low(value: bigint): number {
  return Number(value & BITS_32);
}

async function blobOf(path: string, hashDigits: number): Promise<string | undefined> {
  const bytes = await contentOf(path);
  if (bytes === undefined) return undefined;
  const hash = createHash(hashDigits === 64 ? 'sha256' : 'sha1');
  return hash.update(`blob ${bytes.length}\0`).update(bytes).digest('hex');
}

/** Follows no link: the file may have become one. */
async function contentOf(path: string): Promise<Buffer | undefined> {
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW).catch(
    () => undefined,
  );
  try {
    const status = await file?.stat();
    return status?.isFile() === true && status.size <= MAX_HASHED_BYTES ? await file?.readFile() : undefined;
  } catch {
    return undefined;
  } finally {
    await file?.close();
  }
}
