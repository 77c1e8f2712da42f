/** Packs a tree as a zip: on the master for an export, in the client for a copy into a template. */
import { PassThrough, Readable } from 'node:stream';
import { ZipFile as ZipWriter } from 'yazl';
import { DroverError } from '../../model/errors.js';
import { readContent } from '../tree/digest.js';
import type { TreeEntry, TreePlace } from '../tree/tree.js';

const DIRECTORY_MODE = 0o40_755;
const FILE_MODE = 0o100_644;
const PROGRAM_MODE = 0o100_755;
/** The first day that a zip can name. A fixed time makes equal zips of equal trees. */
const TIMES = { mtime: new Date(1980, 0, 1), forceDosTimestamp: true };

/**
 * The zip of a walked tree, made while it is read: in the order of the walk, modes kept, times fixed. `nameIn` maps a
 * path to its name in the zip. The stream ends with an error when a file has changed since the walk. Throws
 * DRV_TEMPLATE_UNSAFE for a name that no zip can hold.
 */
export function packZip(
  place: TreePlace,
  entries: readonly TreeEntry[],
  nameIn: (path: string) => string = (path) => path,
): Readable {
  return new ZipPacking(place, entries, nameIn).output;
}

/** The zip of one file, whose content comes from a stream. Ends with the error of the stream. */
export function packContent(content: Readable, name: string): Readable {
  const zip = new ZipWriter();
  const output = new PassThrough();
  const fail = (error: Error): void => void output.destroy(error);
  content.once('error', fail);
  zip.once('error', fail);
  zip.addReadStream(content, name, { ...TIMES, mode: FILE_MODE });
  zip.end();
  zip.outputStream.pipe(output);
  return output;
}

class ZipPacking {
  readonly output = new PassThrough();
  readonly #zip = new ZipWriter();
  readonly #place: TreePlace;
  readonly #nameIn: (path: string) => string;
  readonly #stopped = new AbortController();
  /** The file that is being read. It pauses while the reader of the zip does. */
  #source: Readable | undefined;

  constructor(place: TreePlace, entries: readonly TreeEntry[], nameIn: (path: string) => string) {
    this.#place = place;
    this.#nameIn = nameIn;
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
    const name = this.#nameIn(path);
    if (kind === 'directory') {
      this.#zip.addEmptyDirectory(name, { ...TIMES, mode: DIRECTORY_MODE });
      return;
    }
    const mode = executable ? PROGRAM_MODE : FILE_MODE;
    this.#zip.addReadStreamLazy(name, { ...TIMES, mode, size }, (ready) => {
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
