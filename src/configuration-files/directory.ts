/**
 * Reads the configurations directory: which files there are and what each says. It does not read a file again that
 * has not changed. It decides nothing: settled-files.ts and the controller's plan judge the readings.
 */
import { createHash } from 'node:crypto';
import { type BigIntStats, constants, type Stats } from 'node:fs';
import { type FileHandle, lstat, open, readdir, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { ABSENT_SUBMODULE, isAbsentSubmodule } from '../files/git-leftovers.js';
import { isMissing } from '../files/system-error.js';
import { whileOpen } from '../files/while-open.js';
import type { Clock } from '../loop/clock.js';
import type { BrokenText, ConfigurationFileError } from '../model/configuration.js';
import { type Bases, followBases, NO_BASES } from './extends.js';
import { type FileNames, faultOfAll, isPart, listFileNames } from './file-names.js';
import { fileReason } from './file-reason.js';
import type { PresentText } from './file-text.js';
import { MAX_FILE_BYTES, type ParsedConfiguration, parseConfigurationFile } from './parse.js';

const FILES_AT_ONCE = 32;
/** How revisions of texts begin; those of contents are hashes. */
export const OF_TEXT = 'text-';
const NOT_UTF8 = 'its name is not UTF-8, so it is not read: rename it';
/**
 * The age below which two writes of a file may have the same time stamp: file systems stamp in steps of up to 10 ms.
 */
const STAMP_STEP_MS = 50;

/** The content of one file. `signature` changes whenever the file may have changed. */
export type Reading =
  | { readonly kind: 'valid'; readonly signature: string; readonly parsed: ParsedConfiguration }
  | { readonly kind: 'broken'; readonly signature: string; readonly error: ConfigurationFileError };

/** True when the file is valid, and its configuration has the name `name`. */
export function says(
  reading: Reading | undefined,
  name: string,
): reading is Extract<Reading, { kind: 'valid' }> {
  return reading?.kind === 'valid' && reading.parsed.configuration.name === name;
}

/** The fault of a subdirectory in which the file lies: what it said stays in force. Undefined: there is none. */
export function faultAbove(files: ReadonlyMap<string, Reading>, file: string): Reading | undefined {
  for (let directory = dirname(file); directory !== '.'; directory = dirname(directory)) {
    const fault = files.get(faultOfAll(directory));
    if (fault !== undefined) return fault;
  }
  return undefined;
}

/** The names, and the readings by the paths of files. Targets of links must be watched too. */
interface DirectoryReading extends Pick<FileNames, 'links' | 'directories' | 'unread'> {
  readonly files: ReadonlyMap<string, Reading>;
}

/**
 * Thrown when the directory as a whole cannot be read or trusted. Files that are missing in it then prove
 * nothing.
 */
export class DirectoryUnusable extends Error {
  override readonly name = 'DirectoryUnusable';
}

/**
 * `isFresh`: the file was read so soon after its last change that a later change may look the same, so it is read
 * again.
 */
interface Known {
  readonly reading: Reading;
  readonly isFresh: boolean;
  /** Its text, and what it extends. Undefined: it has no text that can be read. */
  readonly said: PresentText | undefined;
}

/** The text of a file, or why it has none, and its status. */
interface ReadText {
  readonly status: BigIntStats;
  readonly text: string | undefined;
  readonly fault: string;
}

export class DirectoryReader {
  readonly #directory: string;
  readonly #clock: Pick<Clock, 'now'>;
  readonly #known = new Map<string, Known>();
  #identity: string | undefined;
  #id: string | undefined;

  /** `directory` empty: files are named by any path, and may extend any other. */
  constructor(directory: string, clock: Pick<Clock, 'now'>) {
    this.#directory = directory;
    this.#clock = clock;
  }

  /**
   * Reads every changed file. Throws DirectoryUnusable when the directory is missing or unreadable. Unless
   * `canBeReplaced`, it also throws that when another, empty directory took its place (an unmounted volume).
   */
  async read(canBeReplaced = false): Promise<DirectoryReading> {
    const { identity, id, names } = await this.#list();
    const { links, directories, unread } = names;
    const isEmpty = names.files.length === 0;
    if (!canBeReplaced && identity !== this.#identity && isEmpty && this.#known.size > 0)
      throw new DirectoryUnusable(
        'was replaced by an empty one; the configurations stay in force (put the files back, or restart Drover to accept it)',
      );
    const files = new Map<string, Reading>();
    for (const [path, fault] of names.faults)
      files.set(faultOfAll(path), broken(faultOfAll(path), fault, `${path} ${fault}`));
    const own = names.files.filter((file) => !isPart(file));
    for (let from = 0; from < own.length; from += FILES_AT_ONCE) {
      const some = own.slice(from, from + FILES_AT_ONCE);
      const readings = await Promise.all(some.map((file) => this.#read(file)));
      for (const [index, file] of some.entries()) {
        const reading = readings[index];
        if (reading !== undefined) files.set(file, reading);
      }
    }
    this.#identity = identity;
    this.#id = id;
    for (const file of this.#known.keys()) if (!files.has(file)) this.#known.delete(file);
    return { files, links, directories, unread };
  }

  /** Identifies the directory of the last reading, also across reboots, after which devices may have other numbers. */
  get id(): string | undefined {
    return this.#id;
  }

  /** False when the last reading was of another directory, or the directory is missing now. */
  async isSameDirectory(): Promise<boolean> {
    const status = await stat(this.#directory).catch(() => undefined);
    return status !== undefined && identityOf(status) === this.#identity;
  }

  /**
   * True when a file has this signature. Also true when the file is gone together with its directory, which
   * proves nothing. An unreadable file has a signature, too.
   */
  async hasSignature(file: string, signature: string): Promise<boolean> {
    const reading = await this.#read(file);
    if (reading === undefined) return !(await this.isSameDirectory());
    return reading.signature === signature;
  }

  /**
   * Reads the changed ones among `files`. Undefined when everything must be read: the directory was replaced, or one of
   * the files is a link.
   */
  async readSome(files: Iterable<string>): Promise<ReadonlyMap<string, Reading | undefined> | undefined> {
    if (!(await this.isSameDirectory())) return undefined;
    const readings = new Map<string, Reading | undefined>();
    for (const file of this.#withDependents(new Set(files))) {
      const status = await lstat(join(this.#directory, file)).catch(() => undefined);
      if (status?.isSymbolicLink() === true) return undefined;
      const reading = await this.#read(file);
      if (reading === undefined) this.#known.delete(file);
      readings.set(file, reading);
    }
    return readings;
  }

  /** The files without those that only others extend, and with all that extend one of them. */
  #withDependents(files: ReadonlySet<string>): readonly string[] {
    const others = [...this.#known].filter(([, { said }]) =>
      said?.bases.files.some((base) => files.has(base)),
    );
    return [...new Set([...files, ...others.map(([file]) => file)])].filter((file) => !isPart(file));
  }

  /** The texts that a text of this file takes over. `onRead` gets the status of each; undefined: it has none. */
  #basesOf(file: string, text: string, onRead?: (status: BigIntStats | undefined) => void): Promise<Bases> {
    const read = async (base: string): Promise<{ readonly text: string } | string> => {
      try {
        const { status, text, fault } = await this.#readText(base);
        onRead?.(status);
        return text === undefined ? fault : { text };
      } catch (error) {
        onRead?.(undefined);
        return isMissing(error) ? 'does not exist' : `cannot be read: ${fileReason(error)}`;
      }
    };
    return followBases({ file, text, read, isBounded: this.#directory !== '' });
  }

  /** Reads one file anew; undefined: no such file. */
  async readFile(file: string): Promise<Reading | undefined> {
    const reading = await this.#read(file, true);
    if (reading === undefined) this.#known.delete(file);
    return reading;
  }

  /** The text that a file has now. Undefined: there is no such file, or its bytes are no text. Throws where it cannot be read. */
  async textOf(file: string): Promise<PresentText | undefined> {
    const reading = await this.#read(file);
    const known = reading && this.#known.get(file);
    if (reading?.kind === 'broken' && known?.reading !== reading) throw new Error(reading.error.message);
    return known?.said;
  }

  /** Notes what a text means that is written into a file: reading it back need not judge it again. */
  expect(file: string, text: string, parsed: ParsedConfiguration): void {
    const reading = { kind: 'valid', signature: '', parsed } as const;
    this.#known.set(file, { reading, isFresh: true, said: { text, bases: NO_BASES, parsed } });
  }

  /** The text of a broken file, to be mended; undefined: it is not broken, or has no text that can be shown. */
  async textOfBroken(file: string): Promise<BrokenText | undefined> {
    const reading = await this.readFile(file);
    if (reading?.kind !== 'broken') return undefined;
    const { text } = await this.#readText(file).catch(() => ({ text: undefined }));
    if (text === undefined) return undefined;
    const revision = `${OF_TEXT}${createHash('sha256').update(text).digest('hex')}`;
    return { file, text, revision, error: reading.error };
  }

  async #list(): Promise<{ identity: string; id: string; names: FileNames }> {
    try {
      const status = await stat(this.#directory);
      const id = `${status.ino}-${Math.round(status.birthtimeMs)}`;
      if (await isAbsentSubmodule(this.#directory)) throw new Error(`it ${ABSENT_SUBMODULE}`);
      return { identity: identityOf(status), id, names: await listFileNames(this.#directory) };
    } catch (error) {
      throw new DirectoryUnusable(`cannot be read: ${fileReason(error)}; the configurations stay in force`, {
        cause: error,
      });
    }
  }

  async #read(file: string, isAnew = false): Promise<Reading | undefined> {
    const path = join(this.#directory, file);
    try {
      // Check the kind first: just opening a FIFO or device does harm.
      const status = await stat(path, { bigint: true });
      if (status.isDirectory()) return undefined;
      if (!status.isFile()) return broken(file, 'special', 'is not a regular file');
      const known = this.#known.get(file);
      if (known?.isFresh === false && !isAnew) {
        const bases = (known.said?.bases.files ?? []).map((base) =>
          stat(join(this.#directory, base), { bigint: true }).catch(() => undefined),
        );
        if (known.reading.signature === signatureOf([status, ...(await Promise.all(bases))]))
          return known.reading;
      }
      return await this.#readChanged(file);
    } catch (error) {
      if (isMissing(error) && (await lstat(path).catch(() => undefined)) === undefined)
        return (await this.#isMisnamed(file)) ? broken(file, 'misnamed', NOT_UTF8) : undefined;
      return broken(file, 'unreadable', `cannot be read: ${fileReason(error)}`);
    }
  }

  /** True for a file of the directory that cannot be opened by its name, because bytes of the name were replaced. */
  async #isMisnamed(file: string): Promise<boolean> {
    return (
      file.includes('\uFFFD') &&
      (await readdir(join(this.#directory, dirname(file)))).includes(basename(file))
    );
  }

  async #readChanged(file: string): Promise<Reading> {
    const before = this.#known.get(file);
    const { status, text, fault } = await this.#readText(file);
    const all: (BigIntStats | undefined)[] = [status];
    const bases = text === undefined ? NO_BASES : await this.#basesOf(file, text, (one) => all.push(one));
    const signature = signatureOf(all);
    const isSame = text !== undefined && text === before?.said?.text && bases === before.said.bases;
    const reading = isSame
      ? { ...before.reading, signature }
      : text === undefined
        ? ({ kind: 'broken', signature, error: faultOf(file, fault) } as const)
        : judged(file, text, bases, signature);
    const isFresh = all.some((one) => one !== undefined && this.#isFresh(one));
    const parsed = reading.kind === 'valid' ? reading.parsed : undefined;
    const said = text === undefined ? undefined : { text, bases, parsed };
    this.#known.set(file, { reading, isFresh, said });
    return reading;
  }

  #isFresh({ mtimeMs, ctimeMs }: BigIntStats): boolean {
    const stampedAt = Math.max(Number(mtimeMs), Number(ctimeMs));
    return Math.abs(this.#clock.now() - stampedAt) < STAMP_STEP_MS;
  }

  #readText(file: string): Promise<ReadText> {
    const path = join(this.#directory, file);
    return whileOpen(open(path, constants.O_RDONLY | constants.O_NONBLOCK), async (handle) => {
      const status = await handle.stat({ bigint: true });
      const none = (fault: string): ReadText => ({ status, text: undefined, fault });
      if (!status.isFile()) return none('is not a regular file');
      if (status.size > MAX_FILE_BYTES)
        return none(`is larger than the limit of ${MAX_FILE_BYTES / 1024} KiB`);
      const bytes = Buffer.alloc(Number(status.size) + 1);
      const length = await readFully(handle, bytes);
      if (length === bytes.length) return none('grew while it was read');
      try {
        const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes.subarray(0, length));
        return { status, text, fault: '' };
      } catch {
        return none('is not UTF-8 text');
      }
    });
  }
}

/** Reads until the buffer is full or the file ends. */
async function readFully(handle: FileHandle, bytes: Buffer): Promise<number> {
  let length = 0;
  while (length < bytes.length) {
    const { bytesRead } = await handle.read(bytes, length, bytes.length - length);
    if (bytesRead === 0) break;
    length += bytesRead;
  }
  return length;
}

function judged(file: string, text: string, bases: Bases, signature: string): Reading {
  const result = parseConfigurationFile(file, text, { bases });
  return 'parsed' in result
    ? { kind: 'valid', signature, parsed: result.parsed }
    : { kind: 'broken', signature, error: result.error };
}

function broken(file: string, signature: string, message: string): Reading {
  return { kind: 'broken', signature, error: faultOf(file, message) };
}

/** A fault without a place in the text of the file. */
export function faultOf(file: string, message: string): ConfigurationFileError {
  return { file, line: null, column: null, field: null, message };
}

function identityOf({ dev, ino }: Stats): string {
  return `${dev}:${ino}`;
}

/** The signature of a file and of all that it extends; undefined: there is no such file. */
function signatureOf(all: readonly (BigIntStats | undefined)[]): string {
  return all.map((one) => one && [one.dev, one.ino, one.size, one.mtimeNs, one.ctimeNs].join(':')).join(' ');
}
