/** Writes trees through to the disk, so that a power cut leaves them whole or not there. */
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { eachBounded, FILE_PARALLELISM } from './each-bounded.js';
import type { TreeItem } from './tree.js';

/** fsync of every file and directory of a tree that nobody else changes. */
export async function syncTree(root: string, items: readonly TreeItem[], signal: AbortSignal): Promise<void> {
  await eachBounded(items, FILE_PARALLELISM, signal, ({ path }) => syncPath(join(root, path)));
  await syncPath(root);
}

/** fsync of one file, or of the names in one directory. */
export async function syncPath(path: string | Buffer): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
