/** Reads a small regular file at once. Opening a pipe would wait for a writer, so other kinds of files are refused. */
import { constants, open } from 'node:fs/promises';
import { whileOpen } from './while-open.js';

/** Throws the system's error, and an error that says so when `file` is no regular file, or larger than `mostBytes`. */
export async function readRegular(file: string, mostBytes = Number.POSITIVE_INFINITY): Promise<Buffer> {
  return whileOpen(open(file, constants.O_RDONLY | constants.O_NONBLOCK), async (handle) => {
    const status = await handle.stat();
    if (!status.isFile()) throw new Error('it is not a regular file');
    if (status.size > mostBytes) throw new Error(`it is larger than the limit of ${mostBytes / 1024} KiB`);
    return handle.readFile();
  });
}
