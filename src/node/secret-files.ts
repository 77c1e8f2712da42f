/**
 * Keeps secrets in a directory of their own under `data/`, each in a small file. A file is either complete or
 * missing. Only the daemon's user can read it.
 */
import { mkdir, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { fileReason } from '../configuration-files/file-reason.js';
import { readRegular } from '../files/read-regular.js';
import { replaceFile } from '../files/replace-file.js';
import { hasFileCode, ignoreMissing, ignoring, isDiskClosed, isMissing } from '../files/system-error.js';
import { type DroverError, unusableRoot } from '../model/errors.js';
import { refuseIfOpen } from './private-path.js';
import { dropSum, noteOf } from './secret-sum.js';

export class SecretDirectory {
  readonly #path: string;

  /** `path` is absolute; the directory is made when the first file is written. */
  constructor(path: string) {
    this.#path = path;
  }

  file(name: string): SecretTextFile {
    return new SecretTextFile(this.#path, name);
  }
}

/**
 * A secret of raw bytes with a checksum beside it, read and written as hexadecimal text. The directory of the file must
 * exist. Reading throws DRV_NODE_ROOT_UNUSABLE, with `cure`, when the file cannot be read or was changed.
 */
export function hexFile(path: string, cure: string): Pick<SecretTextFile, 'name' | 'read' | 'write'> {
  const unusable = (problem: string, cause?: unknown): DroverError =>
    unusableRoot(`${path} cannot be used: ${problem}; ${cure}`, { cause });
  return {
    name: path,
    read: async () => {
      try {
        const hex = (await readRegular(path).catch(ignoreMissing))?.toString('hex');
        if (hex === undefined || (await noteOf(path, hex, '')) !== undefined) return hex;
      } catch (error) {
        throw unusable(fileReason(error), error);
      }
      throw unusable('it, or its checksum, was changed after it was written');
    },
    write: async (hex) => {
      await dropSum(path);
      await replaceFile(path, Buffer.from(hex, 'hex'));
      await noteOf(path, hex, '');
    },
  };
}

export class SecretTextFile {
  /** The path relative to the node's root, for messages. */
  readonly name: string;
  readonly #directory: string;
  readonly #file: string;

  constructor(directory: string, file: string) {
    this.#directory = directory;
    this.#file = file;
    this.name = join('data', basename(directory), file);
  }

  /**
   * The content; undefined when the file does not exist. Throws DRV_NODE_ROOT_UNUSABLE, also when other users can read
   * the file.
   */
  async read(): Promise<string | undefined> {
    const path = join(this.#directory, this.#file);
    await refuseIfOpen(this.#directory, 0o700);
    await refuseIfOpen(path, 0o600);
    try {
      return (await readRegular(path)).toString();
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw this.#unusable('read', error);
    }
  }

  /** Resolves when the text is on disk. Throws DRV_NODE_ROOT_UNUSABLE; then the former content stays. */
  async write(text: string): Promise<void> {
    try {
      await mkdir(this.#directory, { mode: 0o700 }).catch(ignoring('EEXIST'));
      await replaceFile(join(this.#directory, this.#file), text);
    } catch (error) {
      throw this.#unusable('written', error);
    }
  }

  async remove(): Promise<void> {
    await rm(join(this.#directory, this.#file), { force: true });
  }

  #unusable(what: 'read' | 'written', cause: unknown): DroverError {
    return unusableRoot(`${this.name} cannot be ${what}: ${fileReason(cause)}; ${cureOf(cause)}`, { cause });
  }
}

function cureOf(cause: unknown): string {
  if (hasFileCode(cause, 'EROFS')) return 'mount the disk writable';
  if (isDiskClosed(cause)) return 'free some space';
  if (hasFileCode(cause, 'EMFILE', 'ENFILE')) return 'raise the limit of open files';
  return 'correct it, or restore it from a backup';
}
