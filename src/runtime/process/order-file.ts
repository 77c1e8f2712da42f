/**
 * A text for one process of this user, which reads it by its path. The file has no name in any directory: what it holds,
 * such as a key, is gone with the descriptor, also when this process is killed.
 */
import { randomBytes } from 'node:crypto';
import { closeSync, constants, openSync, unlinkSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** In memory, so that a full or slow disk is no reason not to start. */
const DIRECTORIES = ['/dev/shm', tmpdir()];

export class OrderFile {
  readonly #fd: number;
  #isClosed = false;

  /** Throws the system's error when no directory takes the text. */
  constructor(text: string) {
    this.#fd = write(Buffer.from(text), DIRECTORIES);
  }

  get path(): string {
    return `/proc/${process.pid}/fd/${this.#fd}`;
  }

  /** Idempotent. A process that has opened the path reads on. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    closeSync(this.#fd);
  }
}

function write(bytes: Buffer, [directory, ...others]: readonly string[]): number {
  let fd: number | undefined;
  try {
    fd = openNameless(join(directory ?? '', `.drover-${randomBytes(12).toString('hex')}`));
    for (let at = 0; at < bytes.length; ) at += writeSync(fd, bytes, at);
    return fd;
  } catch (error) {
    if (fd !== undefined) closeSync(fd);
    if (others.length === 0) throw error;
    return write(bytes, others);
  }
}

function openNameless(path: string): number {
  const { O_RDWR, O_CREAT, O_EXCL } = constants;
  const fd = openSync(path, O_RDWR | O_CREAT | O_EXCL, 0o600);
  unlinkSync(path);
  return fd;
}
