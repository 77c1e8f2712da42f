/**
 * Puts a whole state in the place of a store. A process that ends at any moment leaves the former store or the new one,
 * never an empty one: a start that finds no store would begin an empty state.
 */
import { existsSync } from 'node:fs';
import { copyFile, link, mkdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { syncPath } from '../../files/sync-path.js';
import { ignoreMissing } from '../../files/system-error.js';
import { whileOpen } from '../../files/while-open.js';
import { corruptStore } from '../../model/errors.js';
import type { StoreState } from '../store.js';
import { DATA_FILE, fillStore, MARKER_FILE, openStore, removeStoreFiles } from './open.js';

/**
 * Replaces the store of `directory`, which no process has open. Resolves with the directory that keeps the former file;
 * undefined: there was no store. Throws like `openStore`; the former store then stands.
 */
export async function replaceStore(directory: string, state: StoreState): Promise<string | undefined> {
  const fresh = `${directory}.new`;
  await removeStoreFiles(fresh);
  await fillStore(fresh, state);
  checkSame(state, await whileOpen(openStore({ directory: fresh }), (store) => store.list('')));
  if (!existsSync(directory)) {
    await rename(fresh, directory);
    return undefined;
  }
  const kept = newNameBeside(directory);
  await mkdir(kept, { mode: 0o700 });
  await link(join(directory, DATA_FILE), join(kept, DATA_FILE)).catch(ignoreMissing);
  await copyFile(join(directory, MARKER_FILE), join(kept, MARKER_FILE)).catch(ignoreMissing);
  await syncPath(kept);
  // This is the step that replaces the store.
  await rename(join(fresh, DATA_FILE), join(directory, DATA_FILE));
  await rename(join(fresh, MARKER_FILE), join(directory, MARKER_FILE));
  await syncPath(directory);
  await removeStoreFiles(fresh);
  return kept;
}

/**
 * Removes what a `replaceStore` that was cut off left below `stores`, as far as it can. Call it while this root is
 * locked. A copy of a former store stays.
 */
export async function removeUnfinishedStores(stores: string): Promise<void> {
  for (const name of ['master', 'node'])
    await removeStoreFiles(join(stores, `${name}.new`)).catch(() => undefined);
}

/** A name for the former content of a directory, which nothing has yet. */
export function newNameBeside(directory: string): string {
  return `${directory}.${new Date().toISOString().replace(/[:.]/g, '-')}`;
}

/** Throws DRV_STORE_CORRUPT when the state that was read differs from the state that was written. */
export function checkSame(written: StoreState, read: StoreState): void {
  if (isDeepStrictEqual(plain(written), plain(read))) return;
  throw corruptStore('the state that was written reads back differently: nothing else was changed');
}

function plain({ entries, revision }: StoreState): unknown {
  return {
    revision,
    entries: entries.map(({ key, value, revision: of }) => [key, of, JSON.stringify(value)]),
  };
}
