/** Reads a pack at once, in a thread that may wait for the disk. */
import { readSync } from 'node:fs';
import { MOST_PACKED_BYTES } from './packs.js';

const buffer = Buffer.allocUnsafeSlow(MOST_PACKED_BYTES);

/** At most MOST_PACKED_BYTES, valid until the next call; fewer than `size` when the pack ends before. */
export function readPack(file: number, { at, size }: { readonly at: number; readonly size: number }): Buffer {
  let done = 0;
  while (done < size) {
    const bytes = readSync(file, buffer, done, size - done, at + done);
    if (bytes === 0) break;
    done += bytes;
  }
  return buffer.subarray(0, done);
}
