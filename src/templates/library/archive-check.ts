/**
 * Decides, entry by entry, whether a zip from elsewhere may be unpacked. It checks what the zip's directory says:
 * names, kinds, sizes, counts. Pure. The unpacking checks whether the contents match.
 */

import { type Entry, getFileNameLowLevel } from 'yauzl';
import { DroverError } from '../../model/errors.js';
import { quoteText } from '../../model/words.js';
import { objectionTo } from '../tree/path-objection.js';
import { invalid } from './invalid-archive.js';

const KIND_MASK = 0o170_000;
const REGULAR = 0o100_000;
const DIRECTORY = 0o040_000;
const EXECUTABLE = 0o100;
const STORED = 0;
const DEFLATED = 8;
const MIB = 1024 * 1024;
/**
 * An archive that unpacks to at most this size may have any compression ratio, because it is too small to do
 * harm.
 */
const FREE_OF_RATIO_BYTES = 16 * MIB;

/** The limit for the length of all paths together, directories included: 200,000 paths of 300 characters. */
const MAX_NAME_CHARS = 60_000_000;

/** The limits for one archive. */
export interface ArchiveLimits {
  readonly maxEntries: number;
  /** The limit for the unpacked bytes of all files together. */
  readonly maxBytes: number;
  /**
   * The most unpacked bytes per byte of the archive. Ordinary worlds and logs reach 20; only zip bombs reach
   * 1,000.
   */
  readonly maxRatio: number;
}

export interface CheckedEntry {
  /** The path relative to the template, with forward slashes and no slash at the end. */
  readonly path: string;
  readonly isDirectory: boolean;
  readonly executable: boolean;
}

export class ArchiveCheck {
  readonly #limits: ArchiveLimits;
  readonly #archiveBytes: number;
  /** The spelling and the kind of each path. The key is the path without regard to case. */
  readonly #known = new Map<
    string,
    { readonly path: string; readonly kind: 'file' | 'directory' | 'parent' }
  >();
  #entries = 0;
  #packedBytes = 0;
  #files = 0;
  #bytes = 0;
  #nameChars = 0;

  constructor(limits: ArchiveLimits, archiveBytes: number) {
    this.#limits = limits;
    this.#archiveBytes = archiveBytes;
  }

  /** The files and bytes of the entries that were added so far. */
  get total(): { readonly files: number; readonly bytes: number } {
    return { files: this.#files, bytes: this.#bytes };
  }

  /**
   * Checks one entry. Call it once for each entry, in any order. Throws DRV_ARCHIVE_INVALID,
   * DRV_ARCHIVE_TOO_LARGE.
   */
  add(entry: Entry): CheckedEntry {
    this.#takeSizes(entry);
    const checked = checkEntry(entry);
    this.#claimParents(checked.path);
    this.#claim(checked.path, checked.isDirectory ? 'directory' : 'file');
    if (!checked.isDirectory) this.#files++;
    return checked;
  }

  /** Compares the number of entries with the limit. Throws DRV_ARCHIVE_TOO_LARGE. */
  checkCount(entries: number): void {
    const { maxEntries } = this.#limits;
    if (entries > maxEntries)
      throw tooLarge(`it holds more than ${maxEntries} entries, directories included`);
  }

  #takeSizes({ compressedSize, uncompressedSize }: Entry): void {
    const { maxBytes, maxRatio } = this.#limits;
    this.checkCount(++this.#entries);
    this.#bytes += uncompressedSize;
    this.#packedBytes += compressedSize;
    if (this.#bytes > maxBytes) throw tooLarge(`it unpacks to more than ${Math.floor(maxBytes / MIB)} MB`);
    if (this.#packedBytes > this.#archiveBytes) throw invalid('its entries overlap each other');
    if (this.#bytes > FREE_OF_RATIO_BYTES && this.#bytes > this.#archiveBytes * maxRatio)
      throw tooLarge(`it unpacks to more than ${maxRatio} times its size`);
  }

  /**
   * Remembers the parent directories of a path, from the lowest upwards. It stops at the first known one,
   * because the parents above that are known, too.
   */
  #claimParents(path: string): void {
    for (let parent = parentOf(path); parent !== ''; parent = parentOf(parent)) {
      const known = this.#known.get(fold(parent));
      if (known?.path === parent && known.kind !== 'file') return;
      this.#claim(parent, 'parent');
    }
  }

  #claim(path: string, kind: 'file' | 'directory' | 'parent'): void {
    const folded = fold(path);
    const known = this.#known.get(folded);
    if (known === undefined) {
      this.#known.set(folded, { path, kind });
      // Directories that appear only in the names of other entries count too, because each path is kept in memory.
      this.checkCount(this.#known.size);
      this.#nameChars += path.length;
      if (this.#nameChars > MAX_NAME_CHARS) throw tooLarge('its names are too long altogether');
      return;
    }
    if (known.path !== path)
      throw invalid(`${quoteText(known.path)} and ${quoteText(path)} differ in case or accents only`);
    if (kind === 'file' || known.kind === 'file' || kind === known.kind) {
      if (kind === 'parent' && known.kind === 'parent') return;
      throw invalid(`${quoteText(path)} is in it twice`);
    }
    // The directory's own entry may come after its contents.
    if (kind === 'directory') this.#known.set(folded, { path, kind });
  }
}

/**
 * The path in Unicode NFC and lower case. Two paths with the same result may be one file on some file
 * systems, such as `A.txt` and `a.txt`.
 */
function fold(path: string): string {
  return path.normalize('NFC').toLowerCase();
}

/** The path of the parent; empty for a top-level path. */
function parentOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')));
}

function checkEntry(entry: Entry): CheckedEntry {
  const { externalFileAttributes, compressionMethod } = entry;
  const fileName = getFileNameLowLevel(
    entry.generalPurposeBitFlag,
    entry.fileNameRaw,
    entry.extraFields,
    true,
  );
  const isDirectory = fileName.endsWith('/');
  const path = isDirectory ? fileName.slice(0, -1) : fileName;
  const objection = /^[a-zA-Z]:/.test(path) ? 'names a drive' : objectionTo(path);
  if (objection !== undefined) throw invalid(`the name ${quoteText(fileName)} ${objection}`);
  // Zip tools for Unix put the file mode into the upper 16 bits; other tools leave these bits empty.
  const mode = externalFileAttributes >>> 16;
  const kind = mode & KIND_MASK;
  if (kind !== 0 && kind !== (isDirectory ? DIRECTORY : REGULAR))
    throw invalid(`${quoteText(path)} is a link, device or something else that is no file or directory`);
  if (entry.isEncrypted()) throw invalid(`${quoteText(path)} is encrypted`);
  if (compressionMethod !== STORED && compressionMethod !== DEFLATED)
    throw invalid(`${quoteText(path)} is packed by method ${compressionMethod}; only deflate is understood`);
  if (isDirectory && entry.uncompressedSize > 0)
    throw invalid(`${quoteText(path)} is a directory with content`);
  return { path, isDirectory, executable: !isDirectory && (mode & EXECUTABLE) !== 0 };
}

function tooLarge(what: string): DroverError {
  return new DroverError('DRV_ARCHIVE_TOO_LARGE', `the zip was refused and nothing was changed: ${what}`);
}
