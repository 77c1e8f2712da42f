/** Writes one path through to the disk. Whole trees: `templates/tree/sync-tree.ts`. */
import { open } from 'node:fs/promises';

/** fsync of one file, or of the created, renamed and removed names in one directory. Throws the system's error. */
export async function syncPath(path: string | Buffer): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
