/**
 * Tells which files of a wanted tree are in other trees of the cache, which are missing, and whether the missing ones
 * came. Pure.
 */
import type { FileRange } from '../../model/template.js';
import type { HashedItem } from '../tree/digest.js';
import { corrupt } from './bundle.js';
import type { HashedPackedItem, Place } from './packs.js';

/** A tree that is in the cache. */
export interface Base {
  readonly digest: string;
  readonly directory: string;
  readonly items: readonly HashedPackedItem[];
}

/** The place of a wanted file's content in a cached tree. */
export interface Source {
  readonly digest: string;
  /** The directory of the cached tree. */
  readonly directory: string;
  readonly place: Place;
}

/**
 * Finds the content of wanted items in `bases`, by the index of the item. An item whose content is missing has no
 * entry. `bases` is read only as far as needed.
 */
export async function chooseSources(
  wanted: readonly HashedItem[],
  bases: AsyncIterable<Base>,
): Promise<Map<number, Source>> {
  const places = new Map<string, number[]>();
  for (const [index, { hash }] of wanted.entries()) {
    if (hash === undefined) continue;
    const key = hash.toString('base64');
    const known = places.get(key);
    if (known === undefined) places.set(key, [index]);
    else known.push(index);
  }
  const sources = new Map<number, Source>();
  /**
   * The tree to take each pack from. Trees share packs under the same name, so all contents of a pack come from one
   * tree.
   */
  const holders = new Map<string, Omit<Source, 'place'>>();
  for await (const { digest, directory, items } of bases) {
    if (places.size === 0) break;
    for (const { hash, place } of items) {
      if (hash === undefined || place === undefined) continue;
      const key = hash.toString('base64');
      for (const index of places.get(key) ?? []) {
        const holder = holders.get(place.pack) ?? { digest, directory };
        holders.set(place.pack, holder);
        sources.set(index, { ...holder, place });
      }
      places.delete(key);
    }
  }
  return sources;
}

/** The missing files, as ranges of neighbours in the manifest. */
export function missingRanges(
  wanted: readonly HashedItem[],
  isShared: (index: number) => boolean,
): { readonly ranges: FileRange[]; readonly files: number; readonly bytes: number } {
  const ranges: [number, number][] = [];
  let files = 0;
  let bytes = 0;
  for (const [index, { kind, size }] of wanted.entries()) {
    if (kind === 'directory' || isShared(index)) continue;
    files++;
    bytes += size;
    const last = ranges.at(-1);
    if (last !== undefined && last[0] + last[1] === index) last[1]++;
    else ranges.push([index, 1]);
  }
  return { ranges, files, bytes };
}

/**
 * The places of the received files, by the index of the item. Throws DRV_TEMPLATE_CORRUPT unless exactly the files of
 * these ranges came, each with its hash.
 */
export function checkReceived(
  received: readonly HashedPackedItem[],
  wanted: readonly HashedItem[],
  ranges: readonly FileRange[],
): Map<number, Place> {
  const places = new Map<number, Place>();
  let next = 0;
  for (const [first, count] of ranges)
    for (let index = first; index < first + count; index++) {
      const file = wanted[index];
      if (file?.kind !== 'file') continue;
      const came = received[next++];
      if (came === undefined) throw corrupt('it holds other files than were asked for');
      const isRight =
        came.path === file.path &&
        came.executable === file.executable &&
        file.hash !== undefined &&
        came.hash?.equals(file.hash) === true;
      if (!isRight || came.place === undefined)
        throw corrupt('a file of it was damaged or changed on the way');
      places.set(index, came.place);
    }
  if (next !== received.length) throw corrupt('it holds other files than were asked for');
  return places;
}
