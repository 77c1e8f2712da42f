/**
 * A text that a waiting process of this user is given later. That process opens the file by its name while there is
 * nothing in it; then the name goes. So what is written, such as a key, is gone with the descriptors, also when this
 * process is killed. And the other process needs no right to look into this one, which it has not where Node has
 * capabilities that it has not.
 */
import { randomBytes } from 'node:crypto';
import {
  closeSync,
  constants,
  existsSync,
  ftruncateSync,
  openSync,
  readdirSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** In memory, so that a full or slow disk is no reason not to start. */
const DIRECTORIES = ['/dev/shm', tmpdir()];
/** Taken at once: the directory may be full when the text comes. */
const RESERVED = Buffer.alloc(16 * 1024);

export class OrderFile {
  readonly path: string;
  readonly #fd: number;
  readonly #forgetName = (): void => this.forgetName();
  #hasName = true;
  #isClosed = false;

  /** Throws the system's error when no directory takes it. */
  constructor() {
    [this.path, this.#fd] = create(DIRECTORIES);
    process.once('exit', this.#forgetName);
  }

  /** The other process has opened it. Idempotent. */
  forgetName(): void {
    if (!this.#hasName) return;
    this.#hasName = false;
    process.off('exit', this.#forgetName);
    remove(this.path);
  }

  /** Called once, when it has no name any more. Throws the system's error. */
  write(text: string): void {
    const bytes = Buffer.from(text);
    for (let at = 0; at < bytes.length; ) at += writeSync(this.#fd, bytes, at, bytes.length - at, at);
    ftruncateSync(this.#fd, bytes.length);
  }

  /** Idempotent. The other process reads on. */
  close(): void {
    this.forgetName();
    if (this.#isClosed) return;
    this.#isClosed = true;
    closeSync(this.#fd);
  }
}

/** Removes the files, with nothing in them, of processes that were killed before the names were gone. Never throws. */
export function removeOrphans(): void {
  for (const directory of DIRECTORIES)
    for (const name of namesIn(directory)) {
      const pid = /^\.drover-(\d+)-[0-9a-f]{24}$/.exec(name)?.[1];
      if (pid !== undefined && !existsSync(`/proc/${pid}`)) remove(join(directory, name));
    }
}

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

function remove(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    // Gone already, or of another user.
  }
}

function create([directory, ...others]: readonly string[]): [path: string, fd: number] {
  const path = join(directory ?? '', `.drover-${process.pid}-${randomBytes(12).toString('hex')}`);
  let fd: number | undefined;
  try {
    const { O_WRONLY, O_CREAT, O_EXCL } = constants;
    fd = openSync(path, O_WRONLY | O_CREAT | O_EXCL, 0o600);
    for (let at = 0; at < RESERVED.length; ) at += writeSync(fd, RESERVED, at);
    return [path, fd];
  } catch (error) {
    if (fd !== undefined) {
      closeSync(fd);
      unlinkSync(path);
    }
    if (others.length === 0) throw error;
    return create(others);
  }
}
