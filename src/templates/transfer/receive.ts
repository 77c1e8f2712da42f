/** Writes a tar stream from the master into the packs of a cached tree, and has the threads hash the contents there. */
import { quoteText } from '../../model/words.js';
import { bytesOf } from '../tree/byte-stream.js';
import { type ArchiveEntry, Budget, type BundleLimits, corrupt, eachEntry, safePath } from './bundle.js';
import { ContentHashes } from './content-hashes.js';
import type { PackThreads } from './pack-threads.js';
import type { HashedPackedItem, Packs } from './packs.js';

type Received = { -readonly [Key in keyof HashedPackedItem]: HashedPackedItem[Key] };

interface ReceiveOptions {
  readonly packs: Packs;
  readonly threads: PackThreads;
  readonly limits: BundleLimits;
  readonly signal: AbortSignal;
}

/** Resolves with the items in order, when their contents are on the disk. Throws as `unpackTree` does. */
export async function receiveTree(
  source: AsyncIterable<Buffer>,
  { packs, threads, limits, signal }: ReceiveOptions,
): Promise<HashedPackedItem[]> {
  const budget = new Budget(limits);
  const hashes = new ContentHashes(threads, signal);
  const items: HashedPackedItem[] = [];
  await eachEntry(source, signal, async (entry) => {
    budget.takeEntry(entry.header.size);
    items.push(await receive(entry, packs, hashes));
  });
  await Promise.all([hashes.done(), packs.flush()]);
  return items;
}

async function receive(entry: ArchiveEntry, packs: Packs, hashes: ContentHashes): Promise<HashedPackedItem> {
  const { type, size, mode, name } = entry.header;
  const path = safePath(name);
  if (type === 'directory') {
    entry.resume();
    return { path, kind: 'directory', executable: false, size: 0, hash: undefined, place: undefined };
  }
  if (type !== 'file') throw corrupt(`entry ${quoteText(name)} is a ${type}, not a file or directory`);
  const pack = await packs.packFor(size);
  const place = pack.end;
  for await (const piece of bytesOf(entry)) await pack.add(piece);
  await packs.complete(pack, size);
  const item: Received = {
    path,
    kind: 'file',
    executable: (mode & 0o100) !== 0,
    size,
    hash: undefined,
    place,
  };
  hashes.add({
    pack: `${packs.directory}/${place.pack}`,
    at: place.at,
    size,
    written: () => pack.written(),
    take: (hash) => {
      item.hash = hash;
    },
  });
  return item;
}
