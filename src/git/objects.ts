/** Reads single objects of a git repository, loose or packed, through its alternates too. Bounded; a fault reads as "not there". */
import { readdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { inflateSync } from 'node:zlib';
import { readBounded, readText } from './bounded-file.js';
import { type FoundObject, MAX_OBJECT_BYTES, type ObjectReader, objectInPack } from './pack.js';

const MOST_ALTERNATES = 8;
const MOST_PACKS = 1000;
const MAX_ALTERNATES_BYTES = 16 * 1024;
/** Of all objects that one question may unpack, so that a repository that was made to be slow ends in "not there". */
const MAX_UNPACKED_BYTES = 128 * 1024 * 1024;
const OBJECT_COST_BYTES = 256 * 1024;
const LOOSE_HEAD = /^(commit|tree|blob|tag) \d+$/;

/** Made for one question: it remembers where objects may be, and how much was unpacked. */
export class GitObjects implements ObjectReader {
  readonly #commonDirectory: string;
  #bytesLeft = MAX_UNPACKED_BYTES;
  #places: Promise<readonly string[]> | undefined;

  constructor(commonDirectory: string) {
    this.#commonDirectory = commonDirectory;
  }

  async read(hash: string): Promise<FoundObject | undefined> {
    this.#places ??= objectDirectories(join(this.#commonDirectory, 'objects'));
    for (const place of await this.#places) {
      const found = (await loose(place, hash)) ?? (await this.#packed(place, hash));
      if (found !== undefined) return found;
    }
    return undefined;
  }

  spend(bytes: number): boolean {
    this.#bytesLeft -= bytes + OBJECT_COST_BYTES;
    return this.#bytesLeft >= 0;
  }

  async #packed(place: string, hash: string): Promise<FoundObject | undefined> {
    const names = await readdir(join(place, 'pack')).catch(() => []);
    for (const name of names.filter((one) => one.endsWith('.idx')).slice(0, MOST_PACKS)) {
      const pack = join(place, 'pack', name.slice(0, -'.idx'.length));
      const found = await objectInPack(pack, hash, this);
      if (found !== undefined) return found;
    }
    return undefined;
  }
}

async function loose(place: string, hash: string): Promise<FoundObject | undefined> {
  const file = await readBounded(join(place, hash.slice(0, 2), hash.slice(2)), MAX_OBJECT_BYTES);
  if (file === undefined) return undefined;
  try {
    const content = inflateSync(file.bytes, { maxOutputLength: MAX_OBJECT_BYTES });
    const nul = content.indexOf(0);
    const type = LOOSE_HEAD.exec(content.toString('latin1', 0, Math.max(nul, 0)))?.[1];
    return type === undefined ? undefined : { type, content: content.subarray(nul + 1) };
  } catch {
    return undefined;
  }
}

/** The repository's own directory of objects first, then those that it borrows from. */
async function objectDirectories(own: string): Promise<readonly string[]> {
  const places = [own];
  for (const place of places) {
    const text = await readText(join(place, 'info', 'alternates'), MAX_ALTERNATES_BYTES);
    const named = (text ?? '').split('\n').filter((line) => line !== '' && !/^[#"]|\0/.test(line));
    for (const path of named.map((line) => resolve(place, line)))
      if (!places.includes(path) && places.length < MOST_ALTERNATES) places.push(path);
  }
  return places;
}
