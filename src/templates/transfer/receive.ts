/**
 * Writes a tar stream of the master's into the packs of a cached tree and hashes it on the way, so that no file is read
 * twice.
 */

import { createHash } from 'node:crypto';
import { quoteText } from '../../model/words.js';
import { bytesOf } from '../tree/byte-stream.js';
import { type ArchiveEntry, Budget, type BundleLimits, corrupt, eachEntry, safePath } from './bundle.js';
import type { HashedPackedItem, Packs } from './packs.js';

/** Resolves with the items in order; the caller flushes the packs. Throws as `unpackTree` does. */
export async function receiveTree(
  source: AsyncIterable<Buffer>,
  packs: Packs,
  limits: BundleLimits,
  signal: AbortSignal,
): Promise<HashedPackedItem[]> {
  const budget = new Budget(limits);
  const items: HashedPackedItem[] = [];
  await eachEntry(source, signal, async (entry) => {
    budget.takeEntry(entry.header.size);
    items.push(await receive(entry, packs));
  });
  return items;
}

async function receive(entry: ArchiveEntry, packs: Packs): Promise<HashedPackedItem> {
  const { type, size, mode, name } = entry.header;
  const path = safePath(name);
  if (type === 'directory') {
    entry.resume();
    return { path, kind: 'directory', executable: false, size: 0, hash: undefined, place: undefined };
  }
  if (type !== 'file') throw corrupt(`entry ${quoteText(name)} is a ${type}, not a file or directory`);
  const hash = createHash('sha256');
  const pack = await packs.packFor(size);
  const place = pack.end;
  for await (const piece of bytesOf(entry)) {
    hash.update(piece);
    await pack.add(piece);
  }
  await packs.complete(pack, size);
  const executable = (mode & 0o100) !== 0;
  return { path, kind: 'file', executable, size, hash: hash.digest(), place };
}
