/**
 * Writes a tar stream of the master's into a directory of the cache and hashes it on the way, so that no file is read
 * twice. A few small files are written while the next are read. Everything is on the disk afterwards, except the names
 * in directories.
 */

import { createHash, type Hash } from 'node:crypto';
import { type FileHandle, mkdir, open, writeFile } from 'node:fs/promises';
import { quoteText } from '../../model/words.js';
import type { HashedItem } from '../tree/digest.js';
import { FILE_PARALLELISM } from '../tree/each-bounded.js';
import {
  type ArchiveEntry,
  Budget,
  type BundleLimits,
  bytesOf,
  corrupt,
  eachEntry,
  modeOf,
  namingEntry,
  safePath,
} from './bundle.js';

/** Files up to this size are held in memory until they are written. */
const SMALL_BYTES = 256 * 1024;
/**
 * Unpacks a tree into the directory `directory`; no other process may write there. Resolves with the items in order,
 * when all are written. Throws as `unpackTree` does, and writes nothing afterwards.
 */
export async function receiveTree(
  source: AsyncIterable<Buffer>,
  directory: string,
  limits: BundleLimits,
  signal: AbortSignal,
): Promise<HashedItem[]> {
  const budget = new Budget(limits);
  const writes = new BoundedWrites();
  const items: HashedItem[] = [];
  try {
    await eachEntry(source, signal, async (entry) => {
      budget.takeEntry(entry.header.size);
      items.push(await receive(entry, directory, writes));
    });
  } finally {
    await writes.settled();
  }
  writes.throwIfFailed();
  return items;
}

async function receive(entry: ArchiveEntry, directory: string, writes: BoundedWrites): Promise<HashedItem> {
  const { type, size, mode, name } = entry.header;
  const path = safePath(name);
  const target = `${directory}/${path}`;
  if (type === 'directory') {
    await mkdir(target, 0o755).catch(namingEntry(name));
    entry.resume();
    return { path, kind: 'directory', executable: false, size: 0, hash: undefined };
  }
  if (type !== 'file') throw corrupt(`entry ${quoteText(name)} is a ${type}, not a file or directory`);
  const executable = (mode & 0o100) !== 0;
  const hash = createHash('sha256');
  if (size <= SMALL_BYTES) {
    const content = await readWhole(entry);
    hash.update(content);
    await writes.add(() =>
      writeFile(target, content, { flag: 'wx', mode: modeOf(executable), flush: true }).catch(
        namingEntry(name),
      ),
    );
  } else {
    const file = await open(target, 'wx', modeOf(executable)).catch(namingEntry(name));
    await writeLarge(file, entry, hash);
  }
  return { path, kind: 'file', executable, size, hash: hash.digest() };
}

async function readWhole(entry: ArchiveEntry): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of bytesOf(entry)) pieces.push(piece);
  const [first, second] = pieces;
  return first !== undefined && second === undefined ? first : Buffer.concat(pieces);
}

async function writeLarge(file: FileHandle, entry: ArchiveEntry, hash: Hash): Promise<void> {
  try {
    for await (const piece of bytesOf(entry)) {
      hash.update(piece);
      await file.writeFile(piece);
    }
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Runs a few writes at a time. It keeps the first failure and begins no write after it. */
class BoundedWrites {
  readonly #running = new Set<Promise<void>>();
  #failure: { readonly error: unknown } | undefined;

  /** Resolves when the write has begun. Throws the failure of an earlier one. */
  async add(write: () => Promise<void>): Promise<void> {
    while (this.#running.size >= FILE_PARALLELISM) await Promise.race(this.#running);
    this.throwIfFailed();
    const running: Promise<void> = write()
      .catch((error: unknown) => {
        this.#failure ??= { error };
      })
      .finally(() => this.#running.delete(running));
    this.#running.add(running);
  }

  async settled(): Promise<void> {
    await Promise.all(this.#running);
  }

  throwIfFailed(): void {
    if (this.#failure !== undefined) throw this.#failure.error;
  }
}
