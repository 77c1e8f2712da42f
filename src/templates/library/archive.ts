/**
 * Unpacks a zip into a directory after checking every entry, and packs a tree as a zip. How zips become templates is
 * the business of `archives.ts`.
 */
import { mkdir, open, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { crc32 } from 'node:zlib';
import { type Entry, openPromise, type ZipFile } from 'yauzl';
import { ZipFile as ZipWriter } from 'yazl';
import { DroverError, messageOf } from '../../model/errors.js';
import { bytesOf } from '../transfer/bundle.js';
import { readContent } from '../tree/digest.js';
import { isSystemError } from '../tree/system-error.js';
import type { TreeEntry, TreePlace } from '../tree/tree.js';
import { ArchiveCheck, type ArchiveLimits, type CheckedEntry, invalid } from './archive-check.js';

const DIRECTORY_MODE = 0o40_755;
const FILE_MODE = 0o100_644;
const PROGRAM_MODE = 0o100_755;
/** The first day that a zip can name. A fixed time makes equal zips of equal trees. */
const TIMES = { mtime: new Date(1980, 0, 1), forceDosTimestamp: true };

/**
 * Unpacks the file `zip` into the empty directory `directory`; no other process may write either of them. Every entry
 * is checked before the first is written. Throws DRV_ARCHIVE_INVALID and DRV_ARCHIVE_TOO_LARGE; errors of the disk pass
 * unchanged. After a failure the caller removes what was unpacked.
 */
export async function unpackZip(
  zip: string,
  directory: string,
  limits: ArchiveLimits,
  signal: AbortSignal,
): Promise<{ readonly files: number; readonly bytes: number }> {
  const { size } = await stat(zip);
  const check = new ArchiveCheck(limits, size);
  try {
    await eachEntry(zip, signal, async (file, entry) => {
      check.checkCount(file.entryCount);
      check.add(entry);
    });
    // The directory is read a second time instead of being remembered: thousands of names may be large.
    const writer = new EntryWriter(directory);
    const again = new ArchiveCheck(limits, size);
    await eachEntry(zip, signal, (file, entry) => writer.write(file, entry, again.add(entry)));
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof DroverError || isSystemError(error)) throw error;
    throw invalid(messageOf(error), error);
  }
  return check.total;
}

async function eachEntry(
  zip: string,
  signal: AbortSignal,
  work: (file: ZipFile, entry: Entry) => Promise<void>,
): Promise<void> {
  // Drover decodes and checks the names itself: one set of rules, one wording.
  const file = await openPromise(zip, { lazyEntries: true, autoClose: false, decodeStrings: false });
  // An error between two reads is thrown by the next read.
  file.on('error', () => {});
  try {
    for await (const entry of file.eachEntry()) {
      signal.throwIfAborted();
      await work(file, entry);
    }
  } finally {
    file.close();
  }
}

class EntryWriter {
  readonly #directory: string;
  readonly #made = new Set<string>();

  constructor(directory: string) {
    this.#directory = directory;
  }

  async write(zip: ZipFile, entry: Entry, { path, isDirectory, executable }: CheckedEntry): Promise<void> {
    const target = join(this.#directory, path);
    await this.#make(isDirectory ? target : dirname(target));
    if (isDirectory) return;
    const file = await open(target, 'wx', executable ? 0o755 : 0o644);
    let checksum = 0;
    try {
      for await (const chunk of contentOf(zip, entry)) {
        checksum = crc32(chunk, checksum);
        await file.writeFile(chunk);
      }
    } finally {
      await file.close();
    }
    if (checksum !== entry.crc32) throw invalid(`the content of ${JSON.stringify(path)} is damaged (CRC-32)`);
  }

  async #make(directory: string): Promise<void> {
    if (this.#made.has(directory)) return;
    await mkdir(directory, { recursive: true });
    this.#made.add(directory);
  }
}

async function* contentOf(zip: ZipFile, entry: Entry): AsyncGenerator<Buffer> {
  const content = await zip.openReadStreamPromise(entry);
  // It inflates ahead of its reader: an error before or after the loop must not end the process. No await may come
  // between here and the loop, or an error from before it would be lost.
  content.on('error', () => {});
  try {
    yield* bytesOf(content);
  } finally {
    content.destroy();
  }
}

/**
 * The zip of a walked tree, made while it is read: in the order of the walk, modes kept, times fixed. Ends with an
 * error when a file is not what the walk saw. Throws DRV_TEMPLATE_UNSAFE for a name that no zip can hold.
 */
export function packZip(place: TreePlace, entries: readonly TreeEntry[]): Readable {
  return new ZipPacking(place, entries).output;
}

class ZipPacking {
  readonly output = new PassThrough();
  readonly #zip = new ZipWriter();
  readonly #place: TreePlace;
  readonly #stopped = new AbortController();
  /** The file that is being read. It pauses while the zip is not read. */
  #source: Readable | undefined;

  constructor(place: TreePlace, entries: readonly TreeEntry[]) {
    this.#place = place;
    this.#zip.on('error', (error) => this.#fail(error));
    this.output.once('close', () => {
      this.#stopped.abort();
      this.#source?.destroy();
    });
    for (const entry of entries) this.#add(entry);
    this.#zip.end();
    this.#zip.outputStream.pipe(this.output);
  }

  #add(entry: TreeEntry): void {
    const { path, kind, executable, size } = entry;
    if (path.includes('\\'))
      throw new DroverError(
        'DRV_TEMPLATE_UNSAFE',
        `${this.#place.label}: ${path} has a backslash in its name, which no zip can hold: rename it`,
      );
    if (kind === 'directory') {
      this.#zip.addEmptyDirectory(path, { ...TIMES, mode: DIRECTORY_MODE });
      return;
    }
    const mode = executable ? PROGRAM_MODE : FILE_MODE;
    this.#zip.addReadStreamLazy(path, { ...TIMES, mode, size }, (ready) => {
      const source = Readable.from(readContent(this.#place, entry, this.#stopped.signal));
      source.once('error', (error) => this.#fail(error));
      this.#source = source;
      ready(null, source);
    });
  }

  #fail(error: unknown): void {
    this.output.destroy(error instanceof Error ? error : new Error(String(error)));
  }
}
