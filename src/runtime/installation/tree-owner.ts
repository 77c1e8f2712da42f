/**
 * Gives the files of a working directory to the user of its instance. That user and the former user count as
 * attackers of the directory. So a file is held open before it is changed, and links are never followed. A file with
 * a second name (a hard link) stays as it is.
 */

import { constants } from 'node:fs';
import { lchown, lstat, open, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { ownUser } from '../../files/own-user.js';
import { ignoring } from '../../files/system-error.js';
import { whileOpen } from '../../files/while-open.js';
import { eachBounded, FILE_PARALLELISM } from '../../loop/each-bounded.js';
import type { UserIds } from '../../model/names.js';
import { OpenDirectory } from '../../templates/tree/open-directory.js';

/** The mode of a working directory that only the user of its instance may enter. */
export const PRIVATE = 0o700;
/** The mode of the working directory of a container whose user is unknown. */
const SHARED = 0o755;
const LOOK = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** The mode of a new working directory. */
export function modeOf({
  owner,
  isContainer = false,
}: {
  readonly owner?: UserIds | undefined;
  readonly isContainer?: boolean;
}): number {
  return isContainer && owner === undefined ? SHARED : PRIVATE;
}

/** Changes the owner of a directory that only Drover can change. `owner` undefined: the directory stays Drover's. */
export async function give(directory: string, owner: UserIds | undefined): Promise<void> {
  if (owner !== undefined) await lchown(directory, owner.uid, owner.gid);
}

/**
 * Gives a kept working directory, which may be in use, to its instance's present user (default: Drover's own). Only
 * entries of the former owner change hands. Does nothing when the present user owns the directory already. The
 * directory itself comes last, so that an interrupted call can be repeated.
 */
export async function takeOver(path: string, user: UserIds | undefined, signal: AbortSignal): Promise<void> {
  const owner = user ?? ownIds();
  const { uid: before } = await lstat(path);
  if (owner === undefined || before === owner.uid) return;
  await ignoringSwaps(async () => giveAll(await OpenDirectory.open(path), { before, owner, signal }));
}

/** Drover's own ids when it runs as root and can take files back from other users; undefined otherwise. */
function ownIds(): UserIds | undefined {
  const { uid, gid } = ownUser();
  return uid === 0 ? { uid, gid } : undefined;
}

/**
 * Takes all rights to a directory from users outside of its owner and group. Does nothing to a path that is no
 * directory, or that Drover may not change.
 */
export async function closeToOthers(path: string): Promise<void> {
  await whileOpen(OpenDirectory.open(path), (directory) => directory.closeToOthers()).catch(
    ignoring('ENOTDIR', 'ELOOP', 'ENOENT', 'EPERM', 'EACCES'),
  );
}

/**
 * Gives the entries of a directory to a user, while only Drover can enter the directory. The directory stays
 * Drover's.
 */
export async function giveEntries(
  directory: string,
  paths: Iterable<string>,
  { uid, gid }: UserIds,
  signal: AbortSignal,
): Promise<void> {
  await eachBounded([...paths], FILE_PARALLELISM, signal, (path) => lchown(join(directory, path), uid, gid));
}

interface Gift {
  readonly before: number;
  readonly owner: UserIds;
  readonly signal: AbortSignal;
}

/** Gives the directory and all of its entries to the new owner, and closes the open directory. */
async function giveAll(directory: OpenDirectory, gift: Gift): Promise<void> {
  try {
    for (const { name, kind } of await directory.list()) {
      gift.signal.throwIfAborted();
      const entry = directory.entryOf(name);
      if (kind === 'directory')
        await ignoringSwaps(async () => giveAll(await OpenDirectory.open(entry), gift));
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

/** Runs `work`. Ignores an entry that has become a link or a pipe, or has disappeared, since it was listed. */
async function ignoringSwaps(work: () => Promise<void>): Promise<void> {
  await work().catch(ignoring('ENOENT', 'ELOOP', 'ENOTDIR', 'ENXIO'));
}

/**
 * A warning for the operator when the instance's user cannot reach the working directory; null: the user can. A
 * program without access starts all the same and can use relative paths; only absolute paths fail.
 */
export async function enterProblem(directory: string, { uid, gid }: UserIds): Promise<string | null> {
  for (let path = directory; ; path = dirname(path)) {
    const status = await stat(path);
    const bit = status.uid === uid ? 0o100 : status.gid === gid ? 0o010 : 0o001;
    if ((status.mode & bit) === 0)
      return `user ${uid}:${gid} of the instance may not enter the directory ${basename(path)} above its working directory; run chmod o+x on it`;
    if (path === dirname(path)) return null;
  }
}
