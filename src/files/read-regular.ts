/** Reads a small regular file at once. Opening a pipe would wait for a writer, so other kinds of files are refused. */
import { constants, open } from 'node:fs/promises';
import { whileOpen } from './while-open.js';

/** Throws the system's error, and an error that says so when `file` is a directory, a pipe or a device. */
export async function readRegular(file: string): Promise<Buffer> {
  return whileOpen(open(file, constants.O_RDONLY | constants.O_NONBLOCK), async (handle) => {
    if (!(await handle.stat()).isFile()) throw new Error('it is not a regular file');
    return handle.readFile();
  });
}
