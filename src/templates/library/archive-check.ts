/**
 * Decides, entry by entry, whether a zip from elsewhere may be unpacked. It checks what the zip's directory says:
 * names, kinds, sizes, counts. Pure. The unpacking checks whether the contents match.
 */

import { isUtf8 } from 'node:buffer';
import { type Entry, getFileNameLowLevel } from 'yauzl';
import { DroverError } from '../../model/errors.js';
import { quoteText } from '../../model/words.js';
import { objectionTo } from '../tree/path-objection.js';
import type { TreeLimits } from '../tree/tree.js';
import { invalid } from './invalid-archive.js';

const KIND_MASK = 0o170_000;
const REGULAR = 0o100_000;
const DIRECTORY = 0o040_000;
const EXECUTABLE = 0o100;
const STORED = 0;
const DEFLATED = 8;
const MIB = 1024 * 1024;
const UTF8_NAME = 0x800;
/** The systems whose zip tools write names in their own code page: DOS, OS/2, Windows. */
const CODE_PAGE_HOSTS: ReadonlySet<number> = new Set([0, 6, 10, 14]);
/** The entries that macOS puts beside files for itself. */
const OF_FINDER = /^__MACOSX(?:\/|$)|(?:^|\/)\.DS_Store$/;

/** The limit for the length of all paths together, directories included: 200,000 paths of 300 characters. */
const MAX_NAME_CHARS = 60_000_000;

export interface CheckedEntry {
  /** The path relative to the template, with forward slashes and no slash at the end. */
  readonly path: string;
  readonly isDirectory: boolean;
  /** Undefined when the archive was made without modes. */
  readonly executable: boolean | undefined;
}

export class ArchiveCheck {
  readonly #limits: TreeLimits;
  readonly #archiveBytes: number;
  readonly #known = new Map<string, 'file' | 'directory' | 'parent'>();
  #entries = 0;
  #packedBytes = 0;
  #files = 0;
  #bytes = 0;
  #nameChars = 0;

  constructor(limits: TreeLimits, archiveBytes: number) {
    this.#limits = limits;
    this.#archiveBytes = archiveBytes;
  }

  /** The files and bytes of the entries that were added so far. */
  get total(): { readonly files: number; readonly bytes: number } {
    return { files: this.#files, bytes: this.#bytes };
  }

  /**
   * Checks one entry. Call it once for each entry, in any order. Undefined: the entry is left out. Throws
   * DRV_ARCHIVE_INVALID, DRV_ARCHIVE_TOO_LARGE.
   */
  add(entry: Entry): CheckedEntry | undefined {
    this.#takeSizes(entry);
    const checked = checkEntry(entry);
    if (checked === undefined) return undefined;
    if (!checked.isDirectory) this.#bytes += entry.uncompressedSize;
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
    const { maxBytes } = this.#limits;
    this.checkCount(++this.#entries);
    this.#packedBytes += compressedSize;
    if (this.#bytes + uncompressedSize > maxBytes)
      throw tooLarge(`it unpacks to more than ${Math.floor(maxBytes / MIB)} MB`);
    if (this.#packedBytes > this.#archiveBytes) throw invalid('its entries overlap each other');
  }

  /**
   * Remembers the parent directories of a path, from the lowest upwards. It stops at the first known one,
   * because the parents above that are known, too.
   */
  #claimParents(path: string): void {
    for (let parent = parentOf(path); parent !== ''; parent = parentOf(parent)) {
      const known = this.#known.get(parent);
      if (known !== undefined && known !== 'file') return;
      this.#claim(parent, 'parent');
    }
  }

  #claim(path: string, kind: 'file' | 'directory' | 'parent'): void {
    const known = this.#known.get(path);
    if (known === undefined) {
      this.#known.set(path, kind);
      // Directories that appear only in the names of other entries count too, because each path is kept in memory.
      this.checkCount(this.#known.size);
      this.#nameChars += path.length;
      if (this.#nameChars > MAX_NAME_CHARS) throw tooLarge('its names are too long altogether');
      return;
    }
    if (kind === 'file' || known === 'file' || kind === known) {
      if (kind === 'parent' && known === 'parent') return;
      throw invalid(`${quoteText(path)} is in it twice`);
    }
    // The directory's own entry may come after its contents.
    if (kind === 'directory') this.#known.set(path, kind);
  }
}

/** The path of the parent; empty for a top-level path. */
function parentOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')));
}

/**
 * The name of an entry without "./" before it. Tools for Unix write names in UTF-8 without the flag that says so; names
 * from other systems without it are in code page 437.
 */
function nameOf({ generalPurposeBitFlag, fileNameRaw, extraFields, versionMadeBy }: Entry): string {
  const isUnsaid = !CODE_PAGE_HOSTS.has(versionMadeBy >>> 8) && isUtf8(fileNameRaw);
  const flags = isUnsaid ? generalPurposeBitFlag | UTF8_NAME : generalPurposeBitFlag;
  return getFileNameLowLevel(flags, fileNameRaw, extraFields, true).replace(/^(?:\.\/)+/, '');
}

function checkEntry(entry: Entry): CheckedEntry | undefined {
  const { externalFileAttributes, compressionMethod } = entry;
  const fileName = nameOf(entry);
  if (OF_FINDER.test(fileName) || (fileName === '' && entry.fileNameRaw.length > 0)) return undefined;
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
  return { path, isDirectory, executable: mode === 0 ? undefined : (mode & EXECUTABLE) !== 0 };
}

export function tooLarge(what: string): DroverError {
  return new DroverError('DRV_ARCHIVE_TOO_LARGE', `the zip was refused and nothing was changed: ${what}`);
}
