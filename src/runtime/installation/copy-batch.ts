/**
 * What a copying thread does for one message. Each call of the file system is made at once: for a small file, handing
 * it to another thread takes longer than the call.
 */
import {
  chmodSync,
  closeSync,
  constants,
  copyFileSync,
  mkdirSync,
  openSync,
  readSync,
  statSync,
  writeSync,
} from 'node:fs';
import { MOST_PACKED_BYTES } from '../../templates/transfer/packs.js';

export interface CopyBatch {
  readonly id: number;
  readonly target: string;
  /** Paths below `target`, parents before children; none exists. */
  readonly directories: readonly string[];
  readonly files: readonly CopiedFile[];
}

export interface CopiedFile {
  /** The absolute path of a pack of the template cache. */
  readonly source: string;
  /** Where the content of the file begins in it. */
  readonly at: number;
  readonly size: number;
  /** Before the umask. */
  readonly mode: number;
  /** Below `target`. */
  readonly path: string;
}

export interface CopyAnswer {
  readonly id: number;
  /** What stopped the batch; undefined: all of it is done. */
  readonly failure: CopyFailure | undefined;
}

/** A system error without its stack; a message to another thread drops the fields of an error. */
export interface CopyFailure {
  readonly message: string;
  readonly code: string | undefined;
  readonly syscall: string | undefined;
  readonly path: string | undefined;
}

const buffer = Buffer.allocUnsafeSlow(MOST_PACKED_BYTES);

/** Copies, and stops at the first failure. No target may exist. Never throws. */
export function performCopy({ id, target, directories, files }: CopyBatch): CopyAnswer {
  const pack = new OpenPack();
  try {
    for (const path of directories) mkdirSync(`${target}/${path}`);
    for (const file of files) {
      if (file.size > MOST_PACKED_BYTES) copyWhole(file, `${target}/${file.path}`);
      else copySmall(pack, file, `${target}/${file.path}`);
    }
    return { id, failure: undefined };
  } catch (error) {
    return { id, failure: failureOf(error) };
  } finally {
    pack.close();
  }
}

/** The pack that the last file came from: most files of a batch come from one. */
class OpenPack {
  #source: string | undefined;
  #file = -1;

  /** The bytes, until the next call. */
  read({ source, at, size }: CopiedFile): Buffer {
    if (source !== this.#source) {
      this.close();
      this.#file = openSync(source, 'r');
      this.#source = source;
    }
    let done = 0;
    while (done < size) {
      const bytes = readSync(this.#file, buffer, done, size - done, at + done);
      // Like a pack that is missing: the tree is not complete.
      if (bytes === 0) throw Object.assign(new Error(`${source} is too short`), { code: 'ENOENT' });
      done += bytes;
    }
    return buffer.subarray(0, size);
  }

  close(): void {
    if (this.#source !== undefined) closeSync(this.#file);
    this.#source = undefined;
  }
}

function copySmall(pack: OpenPack, file: CopiedFile, target: string): void {
  const content = file.size > 0 ? pack.read(file) : buffer.subarray(0, 0);
  const copy = openSync(target, 'wx', file.mode);
  try {
    for (let done = 0; done < content.length; ) done += writeSync(copy, content, done);
  } finally {
    closeSync(copy);
  }
}

/** A large file is all of its pack. */
function copyWhole({ source, mode }: CopiedFile, target: string): void {
  copyFileSync(source, target, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
  if ((mode & 0o100) !== 0) chmodSync(target, executableMode(statSync(target).mode));
}

/** Who may read may execute. The umask is in the mode already. */
export function executableMode(mode: number): number {
  return mode | ((mode & 0o444) >> 2);
}

function failureOf(error: unknown): CopyFailure {
  const { message, code, syscall, path }: NodeJS.ErrnoException =
    error instanceof Error ? error : new Error(String(error));
  return { message, code, syscall, path };
}
