/**
 * Reads the files of a walked tree in order, small files a few ahead, so that the disk and the reader work at the same
 * time.
 */
import { readContent } from './digest.js';
import { FILE_PARALLELISM } from './each-bounded.js';
import type { TreeEntry, TreePlace } from './tree.js';

/** Files up to this size are read ahead, into memory. */
const SMALL_BYTES = 256 * 1024;

/** An entry with its content, which is empty for a directory. */
interface ReadEntry {
  readonly entry: TreeEntry;
  readonly content: AsyncIterable<Buffer> | readonly Buffer[];
}

/**
 * Yields the entries in order; the caller reads each content in turn. Throws TreeChanged when a file has changed since
 * the walk.
 */
export async function* readAhead(
  place: TreePlace,
  entries: readonly TreeEntry[],
  signal: AbortSignal,
): AsyncGenerator<ReadEntry> {
  const ahead: { readonly entry: TreeEntry; readonly content: Promise<Buffer[]> | undefined }[] = [];
  let next = 0;
  for (;;) {
    for (; ahead.length < FILE_PARALLELISM && next < entries.length; next++) {
      const entry = entries[next];
      if (entry !== undefined) ahead.push({ entry, content: begin(place, entry, signal) });
    }
    const first = ahead.shift();
    if (first === undefined) return;
    signal.throwIfAborted();
    const { entry, content } = first;
    yield { entry, content: content === undefined ? readContent(place, entry, signal) : await content };
  }
}

/** Starts to read a small file; undefined for a large one. */
function begin(place: TreePlace, entry: TreeEntry, signal: AbortSignal): Promise<Buffer[]> | undefined {
  if (entry.kind === 'directory') return Promise.resolve([]);
  if (entry.size > SMALL_BYTES) return undefined;
  const reading = collect(readContent(place, entry, signal));
  // A failure is thrown when the turn of this file comes.
  reading.catch(() => undefined);
  return reading;
}

async function collect(content: AsyncIterable<Buffer>): Promise<Buffer[]> {
  const pieces: Buffer[] = [];
  for await (const piece of content) pieces.push(piece);
  return pieces;
}
