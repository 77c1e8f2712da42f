/**
 * Where a root's Unix sockets lie: in the root's own 0700 directory. When that path is too long for the kernel,
 * they lie in a private directory under the system's temporary directory, named by a hash of the root's.
 */
import { createHash } from 'node:crypto';
import { lstatSync, mkdirSync, realpathSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { DroverError } from '../model/errors.js';
import { publicMessage } from '../model/public-message.js';

/** `sun_path` of Linux has 108 bytes, one of which is the closing NUL. */
const LONGEST_PATH_BYTES = 107;

/**
 * The path of socket `name` for `directory`. Its parent then exists, belongs to this user and is closed to others.
 * Throws DRV_RUNTIME_UNAVAILABLE when it cannot be made or is not private.
 */
export function resolveSocketPath(directory: string, name: string): string {
  makePrivate(directory);
  const path = join(directory, name);
  if (Buffer.byteLength(path) <= LONGEST_PATH_BYTES) return path;
  const fallback = join(tmpdir(), `drover-${userInfo().uid}-${identityOf(directory)}`);
  makePrivate(fallback);
  const short = join(fallback, name);
  if (Buffer.byteLength(short) > LONGEST_PATH_BYTES) throw unusable(short, 'is too long for a Unix socket');
  return short;
}

/**
 * A short name for `directory` (which exists) that no other directory of this machine has, whatever path leads to
 * it.
 */
export function identityOf(directory: string): string {
  return createHash('sha256').update(realpathSync(directory)).digest('hex').slice(0, 24);
}

function makePrivate(directory: string): void {
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw unusable(directory, `cannot be made: ${publicMessage(error)}`);
  }
  // lstat: under a shared temporary directory another user may have put a link there first.
  const stat = lstatSync(directory);
  if (!stat.isDirectory()) throw unusable(directory, 'is not a directory; remove it');
  if (stat.uid !== userInfo().uid) throw unusable(directory, 'belongs to another user; remove it');
  if ((stat.mode & 0o077) !== 0) throw unusable(directory, 'is open to other users; chmod it to 700');
}

/** The last two names of the path: messages about a runtime reach clients of the API. */
function unusable(path: string, why: string): DroverError {
  const name = path.split('/').slice(-2).join('/');
  return new DroverError('DRV_RUNTIME_UNAVAILABLE', `the socket directory ${name} ${why}`);
}
