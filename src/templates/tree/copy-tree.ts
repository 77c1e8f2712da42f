/**
 * Makes a copy of a tree that others may write meanwhile. It uses hard links where the disk allows them, so that no
 * content is read, else copies. It never follows symbolic links. Entries that are neither files nor directories are
 * left to the check of the finished tree.
 */
import { constants } from 'node:fs';
import { chmod, chown, copyFile, link, lstat, mkdir, open } from 'node:fs/promises';
import { syncPath } from '../../files/sync-path.js';
import { ignoring, systemCodeOf } from '../../files/system-error.js';
import { whileOpen } from '../../files/while-open.js';
import { eachBounded, FILE_PARALLELISM } from '../../loop/each-bounded.js';
import { templateUnsafe } from '../../model/errors.js';
import { OpenDirectory } from './open-directory.js';
import { MAX_TREE_DEPTH } from './tree.js';

/**
 * Codes with which a hard link fails: another file system, another user's file, too many links, a file system without
 * links.
 */
const COPY_INSTEAD = new Set(['EXDEV', 'EPERM', 'EMLINK', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS']);

/**
 * Makes the directory `to`, which must not exist, a copy of `from`. Modes are kept, owners where that is allowed.
 * Copied files are on disk afterwards; the caller syncs the directories. Throws DRV_TEMPLATE_UNSAFE for a tree that is
 * too deep.
 */
export async function linkTree(from: string | Buffer, to: string | Buffer, depth = 1): Promise<void> {
  if (depth > MAX_TREE_DEPTH) throw templateUnsafe(`the template is deeper than ${MAX_TREE_DEPTH} levels`);
  await whileOpen(OpenDirectory.open(from), async (source) => {
    await mkdir(to);
    await whileOpen(OpenDirectory.open(to), async (target) => {
      await keepOwner(source.entry('.'), target.entry('.'));
      await linkEntries(source, target, depth);
    });
  });
}

async function linkEntries(source: OpenDirectory, target: OpenDirectory, depth: number): Promise<void> {
  const entries = await source.list();
  const others = entries.filter(({ kind }) => kind !== 'directory');
  await eachBounded(others, FILE_PARALLELISM, undefined, ({ name }) =>
    linkOrCopy(source.entryOf(name), target.entryOf(name)),
  );
  // One directory after the other, because each level holds two directories open.
  for (const { name, kind } of entries)
    if (kind === 'directory') await linkTree(source.entryOf(name), target.entryOf(name), depth + 1);
}

/** Makes `to` a hard link to `from`, or a copy where the file system allows no link. Throws EEXIST. */
export async function linkOrCopy(from: string | Buffer, to: string | Buffer): Promise<void> {
  try {
    // A hard link to a symbolic link is that symbolic link itself, so nothing is followed.
    await link(from, to);
  } catch (error) {
    if (!COPY_INSTEAD.has(systemCodeOf(error) ?? '')) throw error;
    await copy(from, to);
  }
}

async function copy(from: string | Buffer, to: string | Buffer): Promise<void> {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK, COPYFILE_FICLONE, COPYFILE_EXCL } = constants;
  // Copies from the open file, so that a link put in its place meanwhile leads nowhere else.
  await whileOpen(open(from, O_RDONLY | O_NOFOLLOW | O_NONBLOCK), ({ fd }) =>
    copyFile(`/proc/self/fd/${fd}`, to, COPYFILE_FICLONE | COPYFILE_EXCL),
  );
  await syncPath(to);
}

async function keepOwner(from: string, to: string): Promise<void> {
  const { mode, uid, gid } = await lstat(from);
  await chown(to, uid, gid).catch(ignoring('EPERM'));
  await chmod(to, mode & 0o7777);
}
