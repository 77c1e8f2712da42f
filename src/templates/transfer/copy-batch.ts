/**
 * The work of a copying thread for one message. Each call of the file system is synchronous: for a small file, handing
 * the call to another thread takes longer than the call.
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
import { MOST_PACKED_BYTES, readPack } from './packs.js';

export interface CopyBatch {
  readonly target: string;
  /** Paths below `target`, parents before children. None of them exists yet. */
  readonly directories: readonly string[];
  readonly files: readonly CopiedFile[];
}

export interface CopiedFile {
  /** The absolute path of a pack of the template cache. */
  readonly source: string;
  /** Where the file's content begins in the pack. */
  readonly at: number;
  readonly size: number;
  /** The mode before the umask. */
  readonly mode: number;
  /** The path below `target`. */
  readonly path: string;
}

/** Copies, and stops at the first failure, which it throws. No target may exist. */
export function performCopy({ target, directories, files }: CopyBatch): void {
  const pack = new OpenPack();
  try {
    for (const path of directories) mkdirSync(`${target}/${path}`);
    for (let next = 0; next < files.length; ) {
      const run = runOf(files, next);
      next += run.length;
      copyRun(pack, run, target);
    }
  } finally {
    pack.close();
  }
}

/**
 * The files that a single read can bring: the file at `first`, and those after it whose contents follow in
 * the same pack, up to MOST_PACKED_BYTES.
 */
function runOf(files: readonly CopiedFile[], first: number): CopiedFile[] {
  const run = files.slice(first, first + 1);
  let bytes = run[0]?.size ?? 0;
  for (let next = first + 1; next < files.length; next++) {
    const [last, file] = [run.at(-1), files[next]];
    if (file === undefined || file.source !== last?.source || file.at !== last.at + last.size) break;
    if (bytes + file.size > MOST_PACKED_BYTES) break;
    run.push(file);
    bytes += file.size;
  }
  return run;
}

function copyRun(pack: OpenPack, run: readonly CopiedFile[], target: string): void {
  const [first] = run;
  if (first === undefined) return;
  if (first.size > MOST_PACKED_BYTES) {
    copyWhole(first, `${target}/${first.path}`);
    return;
  }
  const bytes = pack.read(
    first,
    run.reduce((sum, { size }) => sum + size, 0),
  );
  for (const { at, size, mode, path } of run) {
    const start = at - first.at;
    // A pack that is too short counts as missing: the tree is not complete.
    if (bytes.length < start + size)
      throw Object.assign(new Error(`${first.source} is too short`), { code: 'ENOENT' });
    writeNew(`${target}/${path}`, mode, bytes.subarray(start, start + size));
  }
}

function writeNew(target: string, mode: number, content: Buffer): void {
  const copy = openSync(target, 'wx', mode);
  try {
    for (let done = 0; done < content.length; ) done += writeSync(copy, content, done);
  } finally {
    closeSync(copy);
  }
}

const NOTHING = Buffer.alloc(0);

/** The pack of the last file, kept open because most files of a batch come from one pack. */
class OpenPack {
  #source: string | undefined;
  #file = -1;

  /**
   * Up to `size` bytes of the pack from the place of this file on; fewer at the end of the pack. Valid until the next
   * call.
   */
  read({ source, at }: CopiedFile, size: number): Buffer {
    if (size === 0) return NOTHING;
    if (source !== this.#source) {
      this.close();
      this.#file = openSync(source, 'r');
      this.#source = source;
    }
    return readPack(this.#file, { at, size });
  }

  close(): void {
    if (this.#source !== undefined) closeSync(this.#file);
    this.#source = undefined;
  }
}

/** Copies a large file, which is the only content of its pack. */
function copyWhole({ source, mode }: CopiedFile, target: string): void {
  copyFileSync(source, target, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
  if ((mode & 0o100) !== 0) chmodSync(target, executableMode(statSync(target).mode));
}

/** The mode with execute permission for everybody who may read the file. The umask is already in `mode`. */
export function executableMode(mode: number): number {
  return mode | ((mode & 0o444) >> 2);
}
