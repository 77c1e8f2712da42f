/** Measures what buffers hold. */

import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

/**
 * The bytes of all buffers that are in use. Left-overs of others are collected first, so two answers differ by what is held
 * in between, not by when the collector ran. Buffers are freed beside the collection, and its next one waits for that.
 */
export function bufferBytes(): number {
  collect();
  collect();
  return process.memoryUsage().arrayBuffers;
}
