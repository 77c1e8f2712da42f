/** Where a root's Unix sockets lie: in the root's own 0700 directory, whose path is short enough for the kernel. */
import { lstatSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { ownUser } from '../files/own-user.js';
import type { DroverError } from '../model/errors.js';
import { publicMessage } from '../model/public-message.js';
import { unavailable } from './failures.js';

/** `sun_path` of Linux has 108 bytes, including the closing NUL. */
const LONGEST_PATH_BYTES = 107;

/**
 * Returns the path of socket `name` in `directory`, which then exists, belongs to this user and is closed to others.
 * Throws DRV_RUNTIME_UNAVAILABLE when the directory cannot be made or is not private, or the path is too long.
 */
export function resolveSocketPath(directory: string, name: string): string {
  makePrivate(directory);
  const path = join(directory, name);
  if (Buffer.byteLength(path) > LONGEST_PATH_BYTES) throw unusable(path, 'is too long for a Unix socket');
  return path;
}

function makePrivate(directory: string): void {
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw unusable(directory, `cannot be made: ${publicMessage(error)}`);
  }
  // lstat does not follow links: under a shared temporary directory another user may have put a link there first.
  const stat = lstatSync(directory);
  if (!stat.isDirectory()) throw unusable(directory, 'is not a directory; remove it');
  if (stat.uid !== ownUser().uid) throw unusable(directory, 'belongs to another user; remove it');
  if ((stat.mode & 0o077) !== 0) throw unusable(directory, 'is open to other users; chmod it to 700');
}

/** Names only the last two parts of the path, because messages about a runtime reach clients of the API. */
function unusable(path: string, why: string): DroverError {
  const name = path.split('/').slice(-2).join('/');
  return unavailable(`the socket directory ${name} ${why}`);
}
