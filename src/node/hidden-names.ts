/**
 * The names that other users of the machine could take before this root does: a directory under /tmp, and sockets in
 * the kernel's table of abstract names. The names are random and kept in the root's data.
 */
import { createHash, randomBytes } from 'node:crypto';
import { link, lstat, mkdir, mkdtemp, readlink, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileReason } from '../configuration-files/file-reason.js';
import { ownUser } from '../files/own-user.js';
import { readRegular } from '../files/read-regular.js';
import { ignoreMissing, ignoring, isMissing } from '../files/system-error.js';
import { type DroverError, unusableRoot } from '../model/errors.js';
import { dropSum, noteOf } from './secret-sum.js';

/** A fixed path instead of os.tmpdir(): a daemon with another TMPDIR must find the sockets of the former daemon. */
const SHORT_DIRECTORY = '/tmp';
const KEY_BYTES = 12;
/** The end of a message. While instances run, the owner that holds them could not be found by another key. */
const REMOVE_KEY = 'stop the instances of this root, then remove it';
const KEY = /^[0-9a-f]{24}$/;

/**
 * The key in the names of this root's locks: 24 hex digits, made at the first call. A copied root gets another key than
 * the root that it is a copy of, because the owners of that root hold its locks. Throws DRV_NODE_ROOT_UNUSABLE when the
 * file holds something else than was written.
 */
export async function lockKeyOf(data: string): Promise<string> {
  const file = join(data, 'lock.key');
  const fresh = `${file}.${randomBytes(4).toString('hex')}`;
  try {
    await lstat(file).catch(async (error: unknown) => {
      if (!isMissing(error)) throw error;
      await dropSum(file);
      await writeFile(fresh, randomBytes(KEY_BYTES).toString('hex'), {
        mode: 0o600,
        flag: 'wx',
        flush: true,
      });
      // Use a link, not a rename: a link does not replace a key that another start has just made.
      await link(fresh, file).catch(ignoring('EEXIST'));
    });
    const key = String(await readRegular(file));
    const { dev, ino } = await lstat(data, { bigint: true });
    const own = `${dev}:${ino}`;
    const madeFor = KEY.test(key) ? await noteOf(file, key, own) : undefined;
    // Every start of a copy must find the same key, so it is derived.
    if (madeFor !== undefined) return madeFor === own ? key : derived(key, own);
  } catch (error) {
    throw unusable(file, `${fileReason(error)}; ${REMOVE_KEY}`);
  } finally {
    await rm(fresh, { force: true });
  }
  throw unusable(file, `it holds no key, or was changed; ${REMOVE_KEY}`);
}

function derived(key: string, root: string): string {
  return createHash('sha256')
    .update(`${key}\0${root}`)
    .digest('hex')
    .slice(0, 2 * KEY_BYTES);
}

/**
 * A directory with a short path that only this user can enter, the same at each call. Throws DRV_NODE_ROOT_UNUSABLE.
 */
export async function shortDirectoryOf(data: string): Promise<string> {
  const pointer = join(data, 'short-sockets');
  try {
    const kept = await readlink(pointer).catch(ignoreMissing);
    if (kept !== undefined && (await isTaken(kept))) return kept;
    const chosen = await mkdtemp(join(SHORT_DIRECTORY, 'drover-'));
    const fresh = `${pointer}.${randomBytes(4).toString('hex')}`;
    await symlink(chosen, fresh);
    await rename(fresh, pointer);
    return chosen;
  } catch (error) {
    throw unusable(pointer, fileReason(error));
  }
}

/**
 * Makes the directory again when it was cleaned up. True when it is a directory that only this user can enter; false:
 * another user has taken the name.
 */
async function isTaken(directory: string): Promise<boolean> {
  await mkdir(directory, 0o700).catch(ignoring('EEXIST'));
  // A link is refused, because any user could have made it.
  const status = await lstat(directory).catch(ignoreMissing);
  return status?.isDirectory() === true && status.uid === ownUser().uid && (status.mode & 0o077) === 0;
}

function unusable(path: string, problem: string): DroverError {
  return unusableRoot(`${path} cannot be used: ${problem}`);
}
