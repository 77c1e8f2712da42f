/**
 * Packs a tree as a tar stream, and unpacks it: the way from the master's library to a wrapper's cache. Only paths,
 * executable bits and contents travel.
 */

import { mkdir, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { extract, type Pack, pack } from 'tar-stream';
import { isSystemError } from '../../files/system-error.js';
import { whileOpen } from '../../files/while-open.js';
import { FILE_PARALLELISM } from '../../loop/each-bounded.js';
import { DroverError, messageOf, templateCorrupt } from '../../model/errors.js';
import { quoteText } from '../../model/words.js';
import { bytesOf } from '../tree/byte-stream.js';
import { readContent } from '../tree/digest.js';
import { MAX_TREE_DEPTH, type TreeEntry, type TreeLimits, type TreePlace, walkTree } from '../tree/tree.js';

/** The tar library writes in pieces of 512 bytes; a frame of the channel should be larger than that. */
const PIECE_BYTES = 64 * 1024;
/** Files up to this size are read ahead, into memory. */
const SMALL_BYTES = 256 * 1024;
const EPOCH = new Date(0);

const SPARSE = 'a sparse file: pack it without --sparse';
/** The words for an entry to which the library gives no type. */
const UNKNOWN_KIND = `of a kind of its own (${SPARSE})`;

/** One file or directory of a tar stream, with its content as a stream. */
export type ArchiveEntry = ReturnType<typeof extract> extends AsyncIterable<infer Item> ? Item : never;

/** The limits for an archive from elsewhere. */
export interface BundleLimits extends TreeLimits {
  /** True for an archive of another program: parents may be missing or come twice, and names may begin with "./". */
  readonly isForeign?: boolean;
}

/** The tar stream of the tree at `place` as it is now; see `packTree`. */
export async function* packWhole(place: TreePlace, signal: AbortSignal): AsyncGenerator<Buffer> {
  yield* packTree(place, await walkTree(place, signal), signal);
}

/**
 * The tar stream of a walked tree, in pieces of about 64 KiB. Ends with TreeChanged when a file has changed since the
 * walk. Reads the disk only as fast as the stream is read.
 */
export async function* packTree(
  place: TreePlace,
  entries: readonly TreeEntry[],
  signal: AbortSignal,
): AsyncGenerator<Buffer> {
  const archive = pack();
  // The iteration throws the archive's errors; an error after its end does not matter.
  archive.on('error', () => {});
  const writing = writeEntries(archive, place, entries, signal).catch((error: unknown) => {
    archive.destroy(error instanceof Error ? error : new Error(String(error)));
  });
  try {
    yield* inPieces(archive);
  } finally {
    archive.destroy();
    await writing;
  }
}

/** Writes the entries in order, and reads small files a few ahead, so that disk and reader work at the same time. */
async function writeEntries(
  archive: Pack,
  place: TreePlace,
  entries: readonly TreeEntry[],
  signal: AbortSignal,
): Promise<void> {
  const ahead = entries.slice(0, FILE_PARALLELISM).map((entry) => contentOf(place, entry, signal));
  for (const [index, { path: name, kind: type, executable, size }] of entries.entries()) {
    signal.throwIfAborted();
    const content = (await ahead.shift()) ?? [];
    const next = entries[index + FILE_PARALLELISM];
    if (next !== undefined) ahead.push(contentOf(place, next, signal));
    const mode = modeOf(executable || type === 'directory');
    const sink = archive.entry({ name, type, size, mode, mtime: EPOCH });
    if (type === 'file') await pipeline(content, sink);
  }
  archive.finalize();
}

type Content = readonly Buffer[] | AsyncIterable<Buffer>;

/** Starts to read a small file; a large one is read when its turn comes. */
function contentOf(place: TreePlace, entry: TreeEntry, signal: AbortSignal): Content | Promise<Content> {
  if (entry.kind === 'directory') return [];
  const content = readContent(place, entry, signal);
  if (entry.size > SMALL_BYTES) return content;
  const reading = collect(content);
  // A failure is thrown when the turn of this file comes.
  reading.catch(() => undefined);
  return reading;
}

async function collect(content: AsyncIterable<Buffer>): Promise<Buffer[]> {
  const pieces: Buffer[] = [];
  for await (const piece of content) pieces.push(piece);
  return pieces;
}

async function* inPieces(source: AsyncIterable<unknown>): AsyncGenerator<Buffer> {
  let kept: Buffer[] = [];
  let keptBytes = 0;
  for await (const chunk of bytesOf(source)) {
    kept.push(chunk);
    keptBytes += chunk.length;
    if (keptBytes < PIECE_BYTES) continue;
    yield Buffer.concat(kept);
    kept = [];
    keptBytes = 0;
  }
  if (keptBytes > 0) yield Buffer.concat(kept);
}

/**
 * Unpacks a tar stream into the empty directory `directory`; no other process may write there. Throws
 * DRV_TEMPLATE_CORRUPT for a broken archive, for too much content, and for entries other than plain files and
 * directories under relative names. Errors of the source and of the disk pass unchanged. After a failure the caller
 * removes what was unpacked.
 */
export async function unpackTree(
  source: AsyncIterable<Buffer>,
  directory: string,
  limits: BundleLimits,
  signal: AbortSignal,
): Promise<void> {
  const budget = new Budget(limits);
  await eachEntry(source, signal, (entry) =>
    limits.isForeign === true
      ? unpackForeignEntry(entry, directory, budget)
      : unpackEntry(entry, entry.header.name, directory, budget),
  );
}

/**
 * Calls `take` for each entry of a tar stream in turn. `take` must read or drop the content. Throws
 * DRV_TEMPLATE_CORRUPT for a broken archive; errors of the source, of the disk and of `take` pass unchanged.
 */
export async function eachEntry(
  source: AsyncIterable<Buffer>,
  signal: AbortSignal,
  take: (entry: ArchiveEntry) => Promise<void>,
): Promise<void> {
  const archive = extract();
  let sourceFailure: unknown;
  const noted = notingFailure(source, (error) => {
    sourceFailure = error;
  });
  const feeding = pipeline(noted, archive, { signal });
  let archiveFailure: unknown;
  feeding.catch((error: unknown) => {
    archiveFailure = error;
  });
  try {
    for await (const entry of archive) await take(entry);
    await feeding;
  } catch (error) {
    // An entry that ends too early fails with an error that says only "destroyed". The archive reports the
    // reason one turn later, so wait for it.
    await nextTurn();
    signal.throwIfAborted();
    if (sourceFailure !== undefined) throw sourceFailure;
    if (error instanceof DroverError || isSystemError(error)) throw error;
    throw corrupt(messageOf(archiveFailure ?? error));
  } finally {
    archive.destroy();
  }
}

/**
 * Passes the source on. `note` gets the source's error, so that the caller can tell it from an error of the
 * archive.
 */
async function* notingFailure(
  source: AsyncIterable<Buffer>,
  note: (error: unknown) => void,
): AsyncGenerator<Buffer> {
  try {
    yield* source;
  } catch (error) {
    note(error);
    throw error;
  }
}

/** Counts what an archive may still bring, and refuses what exceeds its limits. */
export class Budget {
  #entries: number;
  #bytes: number;
  readonly #parents = new Set<string>();

  constructor({ maxEntries, maxBytes }: BundleLimits) {
    this.#entries = maxEntries;
    this.#bytes = maxBytes;
  }

  takeEntry(size: number): void {
    if (--this.#entries < 0) throw corrupt('it holds too many entries');
    this.#bytes -= size;
    if (this.#bytes < 0) throw corrupt('it holds too many bytes');
  }

  /** Counts a directory and the parents in its path, because unpacking makes them too. Returns how many were new. */
  takeDirectory(path: string): number {
    const before = this.#parents.size;
    for (let parent = path; parent !== '.' && !this.#parents.has(parent); parent = dirname(parent)) {
      this.#parents.add(parent);
      this.takeEntry(0);
    }
    return this.#parents.size - before;
  }
}

async function unpackForeignEntry(entry: ArchiveEntry, directory: string, budget: Budget): Promise<void> {
  const { type, name: given, pax } = entry.header;
  const extra = new Map<string, string>(Object.entries(pax ?? {}));
  if ([...extra.keys()].some((key) => key.startsWith('GNU.sparse')))
    throw corrupt(`entry ${quoteText(extra.get('GNU.sparse.name') ?? given)} is ${SPARSE}`);
  const name = given.replace(/^(?:\.\/)+/, '');
  let made = 0;
  if (type === 'file' || type === 'directory') {
    const path = name === '' || name === '.' ? '.' : safePath(name);
    const wanted = type === 'directory' ? path : dirname(path);
    made = budget.takeDirectory(wanted);
    await mkdir(`${directory}/${wanted}`, { recursive: true, mode: 0o755 }).catch(namingEntry(name));
  }
  if (type !== 'directory') return unpackEntry(entry, name, directory, budget);
  if (made === 0) budget.takeEntry(0);
  entry.resume();
}

async function unpackEntry(
  entry: ArchiveEntry,
  name: string,
  directory: string,
  budget: Budget,
): Promise<void> {
  const { type, size, mode } = entry.header;
  budget.takeEntry(size);
  const path = `${directory}/${safePath(name)}`;
  if (type === 'directory') {
    await mkdir(path, 0o755).catch(namingEntry(name));
    entry.resume();
  } else if (type === 'file') {
    await whileOpen(open(path, 'wx', modeOf((mode & 0o100) !== 0)).catch(namingEntry(name)), async (file) => {
      for await (const chunk of bytesOf(entry)) await file.writeFile(chunk);
    });
  } else {
    throw corrupt(
      `entry ${quoteText(name)} is ${type === null ? UNKNOWN_KIND : `a ${type}`}, not a file or directory`,
    );
  }
}

/**
 * The name without the slash that tar puts behind directories. Throws DRV_TEMPLATE_CORRUPT for a path that would leave
 * the tree.
 */
export function safePath(name: string): string {
  const path = name.replace(/\/$/, '');
  const parts = path.split('/');
  const isSafe = !path.includes('\0') && parts.every((part) => part !== '' && part !== '.' && part !== '..');
  if (!isSafe) throw corrupt(`entry ${quoteText(name)} would leave the directory`);
  if (parts.length > MAX_TREE_DEPTH)
    throw corrupt(`entry ${quoteText(name)} lies deeper than ${MAX_TREE_DEPTH} levels`);
  return path;
}

/**
 * Returns a handler that throws the error of a failed entry. Two entries of one name, a file as a parent, and
 * a missing parent become DRV_TEMPLATE_CORRUPT.
 */
function namingEntry(name: string): (error: NodeJS.ErrnoException) => never {
  return (error) => {
    const isFaultOfArchive = ['EEXIST', 'ENOENT', 'ENOTDIR', 'ENAMETOOLONG'].includes(error.code ?? '');
    throw isFaultOfArchive
      ? corrupt(`entry ${quoteText(name)} does not fit the others (${error.code})`)
      : error;
  };
}

/** The mode of a file, before the umask. */
export function modeOf(executable: boolean): number {
  return executable ? 0o755 : 0o644;
}

/** A DRV_TEMPLATE_CORRUPT with one reason. */
export function corrupt(what: string): DroverError {
  return templateCorrupt(`the template archive was refused: ${what}`);
}
