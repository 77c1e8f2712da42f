/** Reads a pack synchronously, in a thread that may wait for the disk. */
import { readSync } from 'node:fs';
import { MOST_PACKED_BYTES } from './packs.js';

const buffer = Buffer.allocUnsafeSlow(MOST_PACKED_BYTES);

/**
 * Reads up to MOST_PACKED_BYTES; fewer than `size` when the pack ends before. The bytes are valid until the next call.
 */
export function readPack(file: number, { at, size }: { readonly at: number; readonly size: number }): Buffer {
  let done = 0;
  while (done < size) {
    const bytes = readSync(file, buffer, done, size - done, at + done);
    if (bytes === 0) break;
    done += bytes;
  }
  return buffer.subarray(0, done);
}
