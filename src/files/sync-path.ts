/** Flushes a single path to the disk. For whole trees see `templates/tree/sync-tree.ts`. */
import { open } from 'node:fs/promises';
import { whileOpen } from './while-open.js';

/**
 * Calls fsync for one file, or for the names that were created, renamed and removed in one directory. Throws the
 * system's error.
 */
export async function syncPath(path: string | Buffer): Promise<void> {
  await whileOpen(open(path, 'r'), (handle) => handle.sync());
}
