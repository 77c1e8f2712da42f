/**
 * A directory held open. Its entries are reached through the open directory and not by its path, as openat(2)
 * does. A parent that is swapped for a symbolic link meanwhile leads nowhere else. Use it for trees that an
 * instance or an operator may change while Drover works in them.
 */
import { constants, type Stats } from 'node:fs';
import { chmod, type FileHandle, open, readdir } from 'node:fs/promises';
import { systemCodeOf } from '../../files/system-error.js';
import { whileOpen } from '../../files/while-open.js';

const LIST = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
/** O_PATH of Linux, which Node does not name: holds an inode without the right to read it. */
const O_PATH = 0o10000000;

export type EntryKind = 'file' | 'directory' | 'link' | 'other';

export interface DirectoryEntry {
  /** The raw bytes, because names need not be UTF-8. */
  readonly name: Buffer;
  readonly kind: EntryKind;
}

export class OpenDirectory {
  readonly #handle: FileHandle;

  private constructor(handle: FileHandle) {
    this.#handle = handle;
  }

  /** Opens a directory. Throws ENOENT, and ENOTDIR or ELOOP when the last segment is a file or a symbolic link. */
  static async open(path: string | Buffer): Promise<OpenDirectory> {
    return new OpenDirectory(await open(path, LIST));
  }

  /** Like `open`, but first gives the owner every right on the directory, so that its entries can be deleted. */
  static async openForRemoval(path: string | Buffer): Promise<OpenDirectory> {
    return await whileOpen(
      open(path, O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW),
      async ({ fd }) => {
        const exact = `/proc/self/fd/${fd}`;
        // The directory of another user keeps its mode. Deleting in it then fails with the right reason.
        await chmod(exact, 0o700).catch(ignorePermission);
        return new OpenDirectory(await open(exact, constants.O_RDONLY | constants.O_DIRECTORY));
      },
    );
  }

  /** A path to `name` (one segment), valid while this directory is open. */
  entry(name: string): string {
    return `/proc/self/fd/${this.#handle.fd}/${name}`;
  }

  /** Like `entry`, for the bytes of a name. */
  entryOf(name: Buffer): Buffer {
    return Buffer.concat([Buffer.from(this.entry('')), name]);
  }

  /** Opens the directory `name` in this one, never through a symbolic link. */
  child(name: string): Promise<OpenDirectory> {
    return OpenDirectory.open(this.entry(name));
  }

  /** All entries, in no order. */
  async list(): Promise<DirectoryEntry[]> {
    const found = await readdir(this.entry(''), { encoding: 'buffer', withFileTypes: true });
    return found.map((entry) => ({ name: entry.name, kind: kindOf(entry) }));
  }

  /** The status of the directory itself. */
  status(): Promise<Stats> {
    return this.#handle.stat();
  }

  /** Gives this directory to the user `uid` and group `gid`, if it belongs to the user `before`. */
  async give(before: number, { uid, gid }: { readonly uid: number; readonly gid: number }): Promise<void> {
    if ((await this.status()).uid === before) await this.#handle.chown(uid, gid);
  }

  /** Takes all rights from other users: those who are neither the owner nor in the group. */
  async closeToOthers(): Promise<void> {
    const { mode } = await this.status();
    if ((mode & 0o007) !== 0) await this.#handle.chmod(mode & 0o7770);
  }

  /** Writes the names in this directory through to the disk. */
  async sync(): Promise<void> {
    await this.#handle.sync();
  }

  async close(): Promise<void> {
    await this.#handle.close();
  }
}

interface Typed {
  isFile(): boolean;
  isDirectory(): boolean;
  isSymbolicLink(): boolean;
}

/** The kind of a directory entry or of an lstat result. */
export function kindOf(typed: Typed): EntryKind {
  if (typed.isFile()) return 'file';
  if (typed.isDirectory()) return 'directory';
  return typed.isSymbolicLink() ? 'link' : 'other';
}

function ignorePermission(error: unknown): void {
  if (systemCodeOf(error) !== 'EPERM') throw error;
}
