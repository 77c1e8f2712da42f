/** Lists the working directories and measures them, for the list of directories that no instance uses. */
import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { ignoreMissing } from '../../files/system-error.js';
import { isInstanceId } from '../../model/names.js';

/** How many entries one call looks at, which takes about two seconds. */
const MOST_ENTRIES = 200_000;

/** The ids of the instances that have a directory in `running`. */
export async function instanceDirectories(running: string): Promise<string[]> {
  const entries = (await readdir(running, { withFileTypes: true }).catch(ignoreMissing)) ?? [];
  return entries.filter((entry) => entry.isDirectory() && isInstanceId(entry.name)).map(({ name }) => name);
}

/**
 * The bytes of the files in each directory. Links are not followed. Left out are directories that cannot be read, and
 * those not finished after `mostEntries` entries.
 */
export async function directorySizes(
  running: string,
  names: readonly string[],
  mostEntries = MOST_ENTRIES,
): Promise<Map<string, number>> {
  const budget = { entries: mostEntries };
  const sizes = new Map<string, number>();
  for (const name of names) {
    if (budget.entries <= 0) break;
    const size = await sizeOf(join(running, name), budget).catch(() => undefined);
    if (size !== undefined) sizes.set(name, size);
  }
  return sizes;
}

async function sizeOf(top: string, budget: { entries: number }): Promise<number | undefined> {
  let bytes = 0;
  const waiting = [top];
  for (let directory = waiting.pop(); directory !== undefined; directory = waiting.pop())
    for (const entry of await readdir(directory, { withFileTypes: true })) {
      if (budget.entries-- <= 0) return undefined;
      const path = join(directory, entry.name);
      if (entry.isDirectory()) waiting.push(path);
      else if (entry.isFile()) bytes += (await lstat(path)).size;
    }
  return bytes;
}
