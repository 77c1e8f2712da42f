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
  statSync,
  writeSync,
} from 'node:fs';
import { MOST_PACKED_BYTES } from './packs.js';
import { readPack } from './read-pack.js';

export interface CopyBatch {
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

/** Copies, and stops at the first failure, which it throws. No target may exist. */
export function performCopy({ target, directories, files }: CopyBatch): void {
  const pack = new OpenPack();
  try {
    for (const path of directories) mkdirSync(`${target}/${path}`);
    for (const file of files) {
      if (file.size > MOST_PACKED_BYTES) copyWhole(file, `${target}/${file.path}`);
      else copySmall(pack, file, `${target}/${file.path}`);
    }
  } finally {
    pack.close();
  }
}

const NOTHING = Buffer.alloc(0);

/** The pack that the last file came from: most files of a batch come from one. */
class OpenPack {
  #source: string | undefined;
  #file = -1;

  /** The bytes, until the next call. */
  read(content: CopiedFile): Buffer {
    const { source, size } = content;
    if (size === 0) return NOTHING;
    if (source !== this.#source) {
      this.close();
      this.#file = openSync(source, 'r');
      this.#source = source;
    }
    const bytes = readPack(this.#file, content);
    // Like a pack that is missing: the tree is not complete.
    if (bytes.length < size) throw Object.assign(new Error(`${source} is too short`), { code: 'ENOENT' });
    return bytes;
  }

  close(): void {
    if (this.#source !== undefined) closeSync(this.#file);
    this.#source = undefined;
  }
}

function copySmall(pack: OpenPack, file: CopiedFile, target: string): void {
  const content = pack.read(file);
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
