/**
 * Opens files of a git directory that nobody has vouched for: regular files only, and never more bytes than a bound.
 * Every fault, whatever it is, reads as "there is no such file".
 */
import { type BigIntStats, constants } from 'node:fs';
import { type FileHandle, open, stat } from 'node:fs/promises';

export interface BoundedFile {
  readonly bytes: Buffer;
  readonly status: BigIntStats;
}

/** The whole file; undefined: there is none, it cannot be read, or it is larger than `most` bytes. */
export function readBounded(path: string, most: number): Promise<BoundedFile | undefined> {
  return withFile(path, async (file, status) => {
    if (status.size > BigInt(most)) return undefined;
    const bytes = await readAt(file, 0, Number(status.size));
    return bytes && { bytes, status };
  });
}

/** A text of at most `most` bytes without the white space at its ends. */
export async function readText(path: string, most: number): Promise<string | undefined> {
  return (await readBounded(path, most))?.bytes.toString('utf8').trim();
}

/** Gives `work` a regular file, open for reading; undefined: there is none, or `work` threw. */
export async function withFile<T>(
  path: string,
  work: (file: FileHandle, status: BigIntStats) => Promise<T>,
): Promise<T | undefined> {
  try {
    // Opening a FIFO or device already does harm, so its kind is checked first.
    if (!(await stat(path)).isFile()) return undefined;
    const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const status = await file.stat({ bigint: true });
      return status.isFile() ? await work(file, status) : undefined;
    } finally {
      await file.close();
    }
  } catch {
    return undefined;
  }
}

/** Exactly `length` bytes; undefined: the file ends before. */
export async function readAt(
  file: FileHandle,
  position: number,
  length: number,
): Promise<Buffer | undefined> {
  const bytes = await readUpTo(file, position, length);
  return bytes.length === length ? bytes : undefined;
}

/** `length` bytes, or those up to the end of the file. */
export async function readUpTo(file: FileHandle, position: number, length: number): Promise<Buffer> {
  const bytes = Buffer.alloc(length);
  let filled = 0;
  while (filled < length) {
    const { bytesRead } = await file.read(bytes, filled, length - filled, position + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return bytes.subarray(0, filled);
}
