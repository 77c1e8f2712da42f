/**
 * Gives the files of a working directory to the user of its instance. That user, and the one before, count as
 * attackers of the directory. So what is changed is held open first, and links are never followed. A file that has a
 * second name somewhere stays as it is.
 */
import { constants } from 'node:fs';
import { chmod, lchown, lstat, open } from 'node:fs/promises';
import { join } from 'node:path';
import { systemCodeOf } from '../../files/system-error.js';
import type { UserIds } from '../../model/names.js';
import { eachBounded, FILE_PARALLELISM } from '../../templates/tree/each-bounded.js';
import { OpenDirectory } from '../../templates/tree/open-directory.js';

/** Of `running/`, when instances have users of their own: each can enter its directory, and list none. */
const PASSAGE = 0o711;
/** Of a working directory: for the user of its instance alone. */
export const PRIVATE = 0o700;
/** Of one whose user is not known. */
const SHARED = 0o755;
const LOOK = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** Mode of a new working directory. */
export function modeOf({
  owner,
  isContainer = false,
}: {
  readonly owner?: UserIds | undefined;
  readonly isContainer?: boolean;
}): number {
  return isContainer && owner === undefined ? SHARED : PRIVATE;
}

/** Gives a directory that only Drover can change. Without an owner it stays Drover's. */
export async function give(directory: string, owner: UserIds | undefined): Promise<void> {
  if (owner !== undefined) await lchown(directory, owner.uid, owner.gid);
}

/** Lets users of instances through `running/`. Repeatable. */
export async function openPassage(running: string): Promise<void> {
  await chmod(running, PASSAGE);
}

/** Brings a kept working directory into the hands of its instance's present user, by default Drover's own. */
export async function takeOver(
  directory: string,
  owner: UserIds | undefined,
  signal: AbortSignal,
): Promise<void> {
  const ids = owner ?? ownIds();
  if (ids !== undefined) await giveTree(directory, ids, signal);
}

/** Drover's own, where it can take files back from others. */
function ownIds(): UserIds | undefined {
  const [uid, gid] = [process.getuid?.(), process.getgid?.()];
  return uid === 0 && gid !== undefined ? { uid, gid } : undefined;
}

/** Takes a directory from those who are neither its owner nor in its group. Spares what is no directory, or not ours. */
export async function closeToOthers(path: string): Promise<void> {
  try {
    const directory = await OpenDirectory.open(path);
    await directory.closeToOthers().finally(() => directory.close());
  } catch (error) {
    if (!['ENOTDIR', 'ELOOP', 'ENOENT', 'EPERM', 'EACCES'].includes(systemCodeOf(error) ?? '')) throw error;
  }
}

/** For what is in a directory that nobody but Drover can enter yet; that one itself stays Drover's. */
export async function giveEntries(
  directory: string,
  paths: Iterable<string>,
  { uid, gid }: UserIds,
  signal: AbortSignal,
): Promise<void> {
  await eachBounded([...paths], FILE_PARALLELISM, signal, (path) => lchown(join(directory, path), uid, gid));
}

/**
 * For a tree in use. Only what belongs to the directory's owner of before changes hands. Does nothing when that is
 * `owner` already; the directory itself comes last, so a call that was cut off can be repeated.
 */
async function giveTree(path: string, owner: UserIds, signal: AbortSignal): Promise<void> {
  const { uid: before } = await lstat(path);
  if (before === owner.uid) return;
  await ignoringSwaps(async () => giveAll(await OpenDirectory.open(path), { before, owner, signal }));
}

interface Gift {
  readonly before: number;
  readonly owner: UserIds;
  readonly signal: AbortSignal;
}

/** Closes the directory. */
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

/** What became a link, a pipe or nothing since it was listed. */
async function ignoringSwaps(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!['ENOENT', 'ELOOP', 'ENOTDIR', 'ENXIO'].includes(systemCodeOf(error) ?? '')) throw error;
  }
}
