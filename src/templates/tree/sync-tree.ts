/** Writes trees through to the disk, so that a power cut leaves them whole or not there. */
import { join } from 'node:path';
import { syncPath } from '../../files/sync-path.js';
import { eachBounded, FILE_PARALLELISM } from '../../loop/each-bounded.js';
import type { TreeItem } from './tree.js';

/** fsync of every file and directory of a tree, which no other process may change meanwhile. */
export async function syncTree(root: string, items: readonly TreeItem[], signal: AbortSignal): Promise<void> {
  await eachBounded(items, FILE_PARALLELISM, signal, ({ path }) => syncPath(join(root, path)));
  await syncPath(root);
}
