/**
 * Brings one tree into a directory of the cache: only the files that no other cached tree has, or the whole tree as one
 * stream where nothing is shared. The digest proves the result either way.
 */
import { type FetchCost, type FileRange, MAX_FILE_RANGES } from '../../model/template.js';
import { quoteText } from '../../model/words.js';
import { bytesOf } from '../tree/byte-stream.js';
import { digestOf } from '../tree/digest.js';
import { type ArchiveEntry, Budget, type BundleLimits, corrupt, eachEntry, safePath } from './bundle.js';
import { ContentHashes } from './content-hashes.js';
import { type Base, checkReceived, chooseSources, missingRanges } from './delta.js';
import { checkStructure, decodeManifest } from './manifest.js';
import type { PackThreads } from './pack-threads.js';
import type { HashedPackedItem, Packs } from './packs.js';
import { SharedContents } from './shared-contents.js';

/** The streams of a source that has the tree. Each is opened at most once, and read to its end or abandoned. */
export interface TreeOffer {
  /** A tar stream of the whole tree. */
  whole(): AsyncIterable<Buffer>;
  /** Absent where nothing could be shared, such as in an empty cache. */
  readonly parts?: {
    /** The bytes of the manifest (manifest.ts). */
    manifest(): AsyncIterable<Buffer>;
    /** A tar stream of the files at these places of the manifest. */
    files(ranges: readonly FileRange[]): AsyncIterable<Buffer>;
  };
}

interface TreeRequest {
  readonly digest: string;
  readonly offer: TreeOffer;
  /** The packs of an empty directory. The caller flushes and closes them. */
  readonly packs: Packs;
  readonly threads: PackThreads;
  readonly limits: BundleLimits;
  readonly signal: AbortSignal;
}

/** The items that a fetch brought, and its cost. */
export interface FetchedTree extends FetchCost {
  readonly items: readonly HashedPackedItem[];
}

/** Fetches the whole tree in one stream. Throws DRV_TEMPLATE_CORRUPT when the stream is another tree. */
export async function fetchWhole(request: TreeRequest): Promise<FetchedTree> {
  const { digest, offer } = request;
  const traffic = { bytes: 0 };
  const items = await receiveTree(counted(offer.whole(), traffic), request);
  checkStructure(items);
  const actual = await digestOf(items);
  if (actual !== digest)
    throw corrupt(`it has the digest ${actual.slice(0, 12)}; it was damaged or changed on the way`);
  return {
    items,
    transferredBytes: traffic.bytes,
    transferredFiles: items.filter(({ kind }) => kind === 'file').length,
  };
}

/**
 * Fetches only the files that no tree of `bases` has. Answers undefined when `bases` share nothing with the tree, or
 * too little. `damaged` gets the digest of each tree in which a file was damaged. Throws DRV_TEMPLATE_CORRUPT when
 * anything differs from its hash.
 */
export async function fetchMissing(
  request: TreeRequest,
  bases: AsyncIterable<Base>,
  damaged: Set<string>,
): Promise<FetchedTree | undefined> {
  const { digest, offer, packs, threads, signal } = request;
  if (offer.parts === undefined) return undefined;
  const traffic = { bytes: 0 };
  const wanted = await decodeManifest(counted(offer.parts.manifest(), traffic), digest);
  const sources = await chooseSources(wanted, bases);
  if (sources.size === 0) return undefined;
  const shared = new SharedContents({ wanted, packs, threads, signal });
  await shared.take(sources);
  for (const [index, { digest: base }] of sources) if (shared.damaged.has(index)) damaged.add(base);
  const { places } = shared;
  const { ranges, files } = missingRanges(wanted, (index) => places.has(index));
  if (ranges.length > MAX_FILE_RANGES) return undefined;
  if (files > 0) {
    const stream = counted(offer.parts.files(ranges), traffic);
    const received = await receiveTree(stream, request);
    for (const [index, place] of checkReceived(received, wanted, ranges)) places.set(index, place);
  }
  const items = wanted.map((item, index) => ({ ...item, place: places.get(index) }));
  return { items, transferredBytes: traffic.bytes, transferredFiles: files };
}

/** Passes the source on, and adds its bytes to `traffic`. */
async function* counted(source: AsyncIterable<Buffer>, traffic: { bytes: number }): AsyncGenerator<Buffer> {
  for await (const piece of source) {
    traffic.bytes += piece.length;
    yield piece;
  }
}

type Received = { -readonly [Key in keyof HashedPackedItem]: HashedPackedItem[Key] };

/** Resolves with the items in order, when their contents are on the disk. Throws as `unpackTree` does. */
async function receiveTree(
  source: AsyncIterable<Buffer>,
  { packs, threads, limits, signal }: TreeRequest,
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
