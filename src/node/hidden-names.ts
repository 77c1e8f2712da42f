/**
 * The names that other users of the machine could take before this root does: a directory under /tmp, and sockets in
 * the kernel's table of abstract names. The names are random and kept in the root's data.
 */
import { randomBytes } from 'node:crypto';
import {
  link,
  lstat,
  mkdir,
  mkdtemp,
  readFile,
  readlink,
  rename,
  rm,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { join } from 'node:path';
import { fileReason } from '../configuration-files/file-reason.js';
import { ownUser } from '../files/own-user.js';
import { hasFileCode, ignoreMissing, isMissing } from '../files/system-error.js';
import { DroverError } from '../model/errors.js';

/** A fixed path instead of os.tmpdir(): a daemon with another TMPDIR must find the sockets of the former daemon. */
const SHORT_DIRECTORY = '/tmp';
const KEY_BYTES = 12;
const KEY = /^[0-9a-f]{24}$/;

/**
 * The key in the names of this root's locks: 24 hex digits, made at the first call. Throws DRV_NODE_ROOT_UNUSABLE when
 * the file holds something else.
 */
export async function lockKeyOf(data: string): Promise<string> {
  const file = join(data, 'lock.key');
  const fresh = `${file}.${randomBytes(4).toString('hex')}`;
  try {
    await readFile(file).catch(async (error: unknown) => {
      if (!isMissing(error)) throw error;
      await writeFile(fresh, randomBytes(KEY_BYTES).toString('hex'), { mode: 0o600, flag: 'wx' });
      // Use a link, not a rename: a link does not replace a key that another start has just made.
      await link(fresh, file).catch(ignoreExisting);
    });
    const key = await readFile(file, 'utf8');
    if (KEY.test(key)) return key;
  } catch (error) {
    throw unusable(file, fileReason(error));
  } finally {
    await rm(fresh, { force: true });
  }
  throw unusable(file, 'it holds no key; stop the instances of this root, then remove it');
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
  await mkdir(directory, 0o700).catch(ignoreExisting);
  // A link is refused, because any user could have made it.
  const status = await lstat(directory).catch(ignoreMissing);
  return status?.isDirectory() === true && status.uid === ownUser().uid && (status.mode & 0o077) === 0;
}

function ignoreExisting(error: unknown): void {
  if (!hasFileCode(error, 'EEXIST')) throw error;
}

function unusable(path: string, problem: string): DroverError {
  return new DroverError('DRV_NODE_ROOT_UNUSABLE', `${path} cannot be used: ${problem}`);
}
