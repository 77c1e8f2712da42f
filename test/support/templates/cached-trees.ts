/** The content of a node's template cache. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { nameOfTree, readRecord, treeOfName } from '../../../src/templates/transfer/tree-record.js';

/** The cached trees by digest, each with the contents of its files by path. Rejects while a tree comes or goes. */
export async function cachedTrees(cache: string): Promise<Map<string, Record<string, string>>> {
  const digests = readdirSync(cache).flatMap((name) => treeOfName(name) ?? []);
  return new Map(
    await Promise.all(
      digests.map(async (digest): Promise<[string, Record<string, string>]> => {
        const directory = join(cache, nameOfTree(digest));
        const files: Record<string, string> = {};
        for (const { path, place, size } of await readRecord(directory, digest))
          if (place !== undefined)
            files[path] = readFileSync(join(directory, place.pack), 'utf8').slice(place.at, place.at + size);
        return [digest, files];
      }),
    ),
  );
}
