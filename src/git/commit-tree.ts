/** Finds the files of one folder in a commit. */
import type { GitObjects } from './objects.js';

const TREE_LINE = /^tree ([0-9a-f]{40,64})\n/;

/**
 * The blobs of the folder `prefix`, by name. Null: the commit has no such folder. Undefined: the objects cannot be read
 * here.
 */
export async function blobsIn(
  objects: GitObjects,
  commit: string,
  prefix: string,
): Promise<ReadonlyMap<string, string> | null | undefined> {
  const found = await objects.read(commit);
  const tree =
    found?.type === 'commit' ? TREE_LINE.exec(found.content.toString('latin1', 0, 80))?.[1] : undefined;
  let entries = tree === undefined ? undefined : await entriesOf(objects, tree);
  for (const name of prefix.split('/').filter((segment) => segment !== '')) {
    const folder = entries?.get(name);
    if (entries !== undefined && folder === undefined) return null;
    entries = folder === undefined ? undefined : await entriesOf(objects, folder);
  }
  return entries;
}

/** The hashes in a tree, by name. */
async function entriesOf(objects: GitObjects, tree: string): Promise<Map<string, string> | undefined> {
  const found = await objects.read(tree);
  if (found?.type !== 'tree') return undefined;
  const entries = new Map<string, string>();
  const { content } = found;
  for (let at = 0; at < content.length; ) {
    const space = content.indexOf(0x20, at);
    const nul = content.indexOf(0, at);
    const end = nul + 1 + tree.length / 2;
    if (space < 0 || nul < space || end > content.length) return undefined;
    entries.set(content.toString('utf8', space + 1, nul), content.toString('hex', nul + 1, end));
    at = end;
  }
  return entries;
}
