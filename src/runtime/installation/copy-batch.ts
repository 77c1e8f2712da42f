/**
 * What a copying thread does for one message. Each call of the file system is made at once: for a small file, handing
 * it to another thread takes longer than the call.
 */
import { constants, copyFileSync, mkdirSync } from 'node:fs';

export interface CopyBatch {
  readonly id: number;
  readonly target: string;
  /** Paths below `target`, parents before children; none exists. */
  readonly directories: readonly string[];
  /** `source` is absolute, `path` lies below `target`. */
  readonly files: readonly { readonly source: string; readonly path: string }[];
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

/** Copies with the modes of the sources, and stops at the first failure. No target may exist. Never throws. */
export function performCopy({ id, target, directories, files }: CopyBatch): CopyAnswer {
  try {
    for (const path of directories) mkdirSync(`${target}/${path}`);
    for (const { source, path } of files)
      copyFileSync(source, `${target}/${path}`, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
    return { id, failure: undefined };
  } catch (error) {
    return { id, failure: failureOf(error) };
  }
}

function failureOf(error: unknown): CopyFailure {
  const { message, code, syscall, path }: NodeJS.ErrnoException =
    error instanceof Error ? error : new Error(String(error));
  return { message, code, syscall, path };
}
