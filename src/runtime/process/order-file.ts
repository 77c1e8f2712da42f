/**
 * A file that hands a text, such as an order with keys, to a waiting shell of this user. The shell opens the file by
 * its name while it is empty; then the name is removed. So the text is gone with the two descriptors, even when this
 * process is killed. The shell needs no ptrace access to this process, which it lacks when Node has capabilities that
 * the shell does not have.
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
import { attempt } from '../../model/plain/attempt.js';

/** In memory first, so that a full or slow disk does not hinder a start. */
const DIRECTORIES = ['/dev/shm', tmpdir()];
/** Written at once to reserve the room: the directory may be full when the text comes. */
const RESERVED = Buffer.alloc(16 * 1024);

export class OrderFile {
  readonly path: string;
  readonly #fd: number;
  readonly #forgetName = (): void => this.forgetName();
  #hasName = true;
  #isClosed = false;

  /** Creates the file under a random name. Throws the system's error when no directory takes it. */
  constructor() {
    [this.path, this.#fd] = create(DIRECTORIES);
    process.once('exit', this.#forgetName);
  }

  /** Removes the name. Called when the shell has opened the file. Idempotent. */
  forgetName(): void {
    if (!this.#hasName) return;
    this.#hasName = false;
    process.off('exit', this.#forgetName);
    remove(this.path);
  }

  /** Writes the text. Called once, after `forgetName`. Throws the system's error. */
  write(text: string): void {
    const bytes = Buffer.from(text);
    for (let at = 0; at < bytes.length; ) at += writeSync(this.#fd, bytes, at, bytes.length - at, at);
    ftruncateSync(this.#fd, bytes.length);
  }

  /** Closes this side; the shell can still read. Idempotent. */
  close(): void {
    this.forgetName();
    if (this.#isClosed) return;
    this.#isClosed = true;
    closeSync(this.#fd);
  }
}

/** Removes the files that killed processes left behind before they removed the names. Never throws. */
export function removeOrphans(): void {
  for (const directory of DIRECTORIES)
    for (const name of attempt(() => readdirSync(directory), [])) {
      const pid = /^\.drover-(\d+)-[0-9a-f]{24}$/.exec(name)?.[1];
      if (pid !== undefined && !existsSync(`/proc/${pid}`)) remove(join(directory, name));
    }
}

function remove(path: string): void {
  // The file may be gone already, or belong to another user.
  attempt(() => unlinkSync(path));
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
