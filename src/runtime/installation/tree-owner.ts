/**
 * Gives the files of a working directory to the user of its instance. That user, and the one before, count as
 * attackers of the directory: what is changed is held open first, links are never followed, and a file that has a
 * second name somewhere stays as it is.
 */
import { constants } from 'node:fs';
import { lchown, lstat, open } from 'node:fs/promises';
import { join } from 'node:path';
import type { UserIds } from '../../model/names.js';
import { eachBounded, FILE_PARALLELISM } from '../../templates/tree/each-bounded.js';
import { OpenDirectory } from '../../templates/tree/open-directory.js';
import { systemCodeOf } from '../../templates/tree/system-error.js';

const LOOK = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** For a tree that nobody but Drover can reach yet. `paths` are relative to it. */
export async function giveNewTree(
  directory: string,
  paths: Iterable<string>,
  { uid, gid }: UserIds,
  signal: AbortSignal,
): Promise<void> {
  await eachBounded([...paths], FILE_PARALLELISM, signal, (path) => lchown(join(directory, path), uid, gid));
  await lchown(directory, uid, gid);
}

/**
 * For a tree in use. Only what belongs to the directory's owner of before changes hands. Does nothing when that is
 * `owner` already; the directory itself comes last, so a call that was cut off can be repeated.
 */
export async function giveTree(path: string, owner: UserIds, signal: AbortSignal): Promise<void> {
  const { uid: before } = await lstat(path);
  if (before === owner.uid) return;
  await give(await OpenDirectory.open(path), { before, owner, signal });
}

interface Gift {
  readonly before: number;
  readonly owner: UserIds;
  readonly signal: AbortSignal;
}

/** Closes the directory. */
async function give(directory: OpenDirectory, gift: Gift): Promise<void> {
  try {
    for (const { name, kind } of await directory.list()) {
      gift.signal.throwIfAborted();
      const entry = directory.entryOf(name);
      if (kind === 'directory') await ignoringSwaps(async () => give(await OpenDirectory.open(entry), gift));
      else if (kind === 'file') await ignoringSwaps(() => giveFile(entry, gift));
    }
    await directory.give(gift.before, gift.owner);
  } finally {
    await directory.close();
  }
}

async function giveFile(path: Buffer, { before, owner }: Gift): Promise<void> {
  const file = await open(path, LOOK);
  try {
    const status = await file.stat();
    if (status.isFile() && status.uid === before && status.nlink === 1)
      await file.chown(owner.uid, owner.gid);
  } finally {
    await file.close();
  }
}

/** What became a link, a pipe or nothing since it was listed. */
async function ignoringSwaps(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!['ENOENT', 'ELOOP', 'ENOTDIR', 'ENXIO'].includes(systemCodeOf(error) ?? '')) throw error;
  }
}
