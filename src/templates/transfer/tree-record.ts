/**
 * The files beside the packs of a cached tree: the manifest, which proves itself by the digest, and the place of each
 * file's content.
 */
import { createReadStream } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { attempt } from '../../model/plain/attempt.js';
import { bytesOf } from '../tree/byte-stream.js';
import { isDigest } from '../tree/digest.js';
import { corrupt } from './bundle.js';
import { decodeManifest, encodeManifest } from './manifest.js';
import type { HashedPackedItem } from './packs.js';

const MANIFEST = 'manifest';
const PLACES = 'places';
/** The suffix of the directory. */
const FORM = '.packs';

const placesSchema = z.object({
  packs: z.array(z.string().regex(/^[0-9a-f-]+$/)),
  /** For each item of the manifest the index of its pack and the offset in it; null for a directory. */
  items: z.array(z.union([z.tuple([z.int().min(0), z.int().min(0)]), z.null()])),
});

/** Writes the record. Resolves when it is on the disk; the caller syncs the directory. */
export async function writeRecord(directory: string, items: readonly HashedPackedItem[]): Promise<void> {
  const packs = new Map<string, number>();
  const places = items.map(({ place }) => {
    if (place === undefined) return null;
    const known = packs.get(place.pack) ?? packs.size;
    packs.set(place.pack, known);
    return [known, place.at];
  });
  await writeFile(join(directory, MANIFEST), encodeManifest(items), { flag: 'wx', flush: true });
  const text = JSON.stringify({ packs: [...packs.keys()], items: places });
  await writeFile(join(directory, PLACES), text, { flag: 'wx', flush: true });
}

/** The name of the directory of a cached tree. */
export function nameOfTree(digest: string): string {
  return `${digest}${FORM}`;
}

/** The digest of the tree in a directory of this name; undefined: the name is not that of a cached tree. */
export function treeOfName(name: string): string | undefined {
  const digest = name.slice(0, -FORM.length);
  return name.endsWith(FORM) && isDigest(digest) ? digest : undefined;
}

/** Reads the record. Throws ENOENT, and DRV_TEMPLATE_CORRUPT for a record of another tree. */
export async function readRecord(directory: string, digest: string): Promise<HashedPackedItem[]> {
  const manifest = await decodeManifest(bytesOf(createReadStream(join(directory, MANIFEST))), digest);
  const { packs, items } = parsePlaces(await readFile(join(directory, PLACES), 'utf8'));
  if (items.length !== manifest.length) throw damaged();
  return manifest.map((item, index) => {
    const [pack, at] = items[index] ?? [];
    const name = pack === undefined ? undefined : packs[pack];
    if (item.kind === 'directory') return { ...item, place: undefined };
    if (name === undefined || at === undefined) throw damaged();
    return { ...item, place: { pack: name, at } };
  });
}

function parsePlaces(text: string): z.output<typeof placesSchema> {
  const places = attempt(() => placesSchema.parse(JSON.parse(text)));
  if (places === undefined) throw damaged();
  return places;
}

function damaged(): Error {
  return corrupt('its list of places is damaged on this disk');
}
