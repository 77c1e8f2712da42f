/**
 * How a thread hashes contents in a pack. Each read is synchronous; between the parts of a large content the thread
 * takes other work.
 */
import { createHash, hash } from 'node:crypto';
import { closeSync, constants, fstatSync, openSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { MOST_PACKED_BYTES, readPack } from './packs.js';

/** How many bytes of a large content are hashed in one turn, which takes some milliseconds. */
const TURN_BYTES = 16 * MOST_PACKED_BYTES;
const HASH_BYTES = 32;

export interface HashBatch {
  /** The absolute path of a pack. */
  readonly pack: string;
  readonly contents: readonly HashedPlace[];
}

interface HashedPlace {
  readonly at: number;
  readonly size: number;
}

/**
 * The SHA-256 of each content, one after the other. Where the pack is too short, only the bytes that are there are
 * hashed.
 */
export async function performHash({ pack, contents }: HashBatch): Promise<Uint8Array> {
  const hashes = new Uint8Array(contents.length * HASH_BYTES);
  const file = openSync(pack, constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    for (const [index, content] of contents.entries())
      hashes.set(
        content.size > MOST_PACKED_BYTES
          ? await hashLarge(file, content)
          : hash('sha256', readPack(file, content), 'buffer'),
        index * HASH_BYTES,
      );
    return hashes;
  } finally {
    closeSync(file);
  }
}

/** The hashes of `performHash`, one by one. */
export function* eachHash(hashes: Uint8Array): Generator<Buffer> {
  for (let at = 0; at < hashes.length; at += HASH_BYTES)
    yield Buffer.from(hashes.subarray(at, at + HASH_BYTES));
}

/** Stops in the middle when the pack was removed, because no caller wants its hash then. */
async function hashLarge(file: number, { at, size }: HashedPlace): Promise<Buffer> {
  const made = createHash('sha256');
  for (let done = 0; done < size; done += MOST_PACKED_BYTES) {
    const bytes = readPack(file, { at: at + done, size: Math.min(MOST_PACKED_BYTES, size - done) });
    if (bytes.length === 0) break;
    made.update(bytes);
    if (done % TURN_BYTES !== 0) continue;
    await nextTurn();
    if (fstatSync(file).nlink === 0) break;
  }
  return made.digest();
}
