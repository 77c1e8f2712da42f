/**
 * Replaces a file so that a reader, or a crash at any moment, sees the old content or the new one and nothing
 * between. Only this file and `replace-file-sync.ts` replace files. Callers rename whole directories themselves.
 */
import { randomBytes } from 'node:crypto';
import type { Stats } from 'node:fs';
import { type FileHandle, open, readdir, realpath, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { syncPath } from './sync-path.js';
import { whileOpen } from './while-open.js';

/** The mode for this user only, because the content may hold secrets. */
const MODE = 0o600;
const ALL_RIGHTS = 0o777;
/** Another group does not get the rights of the former one. */
const NOT_GROUP = 0o707;
/** Temporary names start with a dot, so that no reader of a directory takes them for files of its own. */
const TEMPORARY_FILE = /^\.drover-[0-9a-f]{16}\.tmp$/;

type Rights = Pick<Stats, 'uid' | 'gid' | 'mode'>;
type Content = Parameters<typeof writeFile>[1];

interface ReplaceOptions {
  /** True: a file that is replaced keeps its owner, group and mode, and a link to it stays a link. */
  readonly keep?: boolean;
  /** The owner, group and mode of the file, as far as the system lets this user; without `keep`. */
  readonly like?: Rights;
  /** The rights that a kept mode may have; default: all. */
  readonly mask?: number;
  /** Gets the reason when the system does not let this user keep owner or group; then the file is written all the same. */
  readonly onLoss?: (reason: string) => void;
}

/**
 * Resolves when the new content and its name are on disk. A new file has mode 0600 from its first byte. A symbolic link
 * is replaced by a file, unless `keep`. When calls overlap, the file has the content of one call. Throws the system's
 * error; then the old content stands and no temporary file is left.
 */
export async function replaceFile(name: string, content: Content, options?: ReplaceOptions): Promise<void> {
  await syncPath(await renameInto(name, content, options));
}

/**
 * As `replaceFile`, but the new name is not on disk yet: the caller syncs the directory that this resolves with, once
 * for many files.
 */
export async function renameInto(
  name: string,
  content: Content,
  { keep = false, like: wanted, mask = ALL_RIGHTS, onLoss }: ReplaceOptions = {},
): Promise<string> {
  // A link that points to nothing is replaced.
  const path = keep ? await realpath(name).catch(() => name) : name;
  const directory = dirname(path);
  const temporary = join(directory, `.drover-${randomBytes(8).toString('hex')}.tmp`);
  const present = keep ? await stat(path).catch(() => undefined) : undefined;
  // A new file belongs to the owner of its directory, who else could not read it.
  const like = wanted ?? present ?? (keep ? { ...(await stat(directory)), mode: MODE } : undefined);
  const file = await open(temporary, 'wx', MODE);
  try {
    await whileOpen(file, async () => {
      if (like !== undefined) await takeRights(file, { ...like, mode: like.mode & mask }, present && onLoss);
      await writeFile(file, content);
      await file.sync();
    });
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
  return directory;
}

/** Gives a file the owner, the group and the mode of another, as far as the system lets this user. */
async function takeRights(
  file: FileHandle,
  { uid, gid, mode }: Rights,
  onLoss: ReplaceOptions['onLoss'],
): Promise<void> {
  const own = await file.stat();
  if (own.uid === uid && own.gid === gid && (own.mode & ALL_RIGHTS) === (mode & ALL_RIGHTS)) return;
  const isTaken = await file.chown(uid, gid).then(isDone, isRefused);
  const hasGroup = isTaken || (await file.chown(own.uid, gid).then(isDone, isRefused));
  if (!isTaken) {
    const lost = hasGroup ? `owner ${uid}` : `owner ${uid} and its group ${gid}`;
    onLoss?.(`it could not keep its ${lost}, because Drover runs as the user ${own.uid}`);
  }
  await file.chmod(mode & (hasGroup ? ALL_RIGHTS : NOT_GROUP));
}

const isDone = (): boolean => true;
const isRefused = (): boolean => false;

/**
 * Removes temporary files that `replaceFile` left in `directory` at least `ageMs` ago, as far as it can. Pass an age
 * where another process may write just now. Default: 0.
 */
export async function removeUnfinishedWrites(directory: string, ageMs = 0): Promise<void> {
  for (const name of await readdir(directory).catch(() => [])) {
    if (!TEMPORARY_FILE.test(name)) continue;
    const file = join(directory, name);
    const status = await stat(file).catch(() => undefined);
    if (status !== undefined && Date.now() - status.mtimeMs >= ageMs)
      await rm(file, { force: true }).catch(() => undefined);
  }
}
