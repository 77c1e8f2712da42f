/**
 * Keeps secrets in a directory of their own under `data/`, each in a small file. A file is either complete or
 * missing. Only the daemon's user can read it.
 */
import { mkdir, open, readFile, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { fileReason } from '../configuration-files/file-reason.js';
import { replaceFile } from '../files/replace-file.js';
import { hasFileCode, isMissing } from '../files/system-error.js';
import { whileOpen } from '../files/while-open.js';
import { DroverError } from '../model/errors.js';
import { refuseIfOpen } from './private-path.js';

/** The most bytes that are read; no secret has as many. */
const MAX_BYTES = 64 * 1024;

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

/** A file of raw bytes, read and written as hexadecimal text. The directory of the file must exist. */
export function hexFile(path: string): Pick<SecretTextFile, 'name' | 'read' | 'write'> {
  return {
    name: path,
    read: () =>
      readFile(path, 'hex').catch((error: unknown) => {
        if (isMissing(error)) return undefined;
        throw error;
      }),
    write: (hex) => replaceFile(path, Buffer.from(hex, 'hex')),
  };
}

class SecretTextFile {
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
    const file = await open(path, 'r').catch((error: unknown) => {
      if (isMissing(error)) return undefined;
      throw this.#unusable('read', error);
    });
    if (file === undefined) return undefined;
    const bytes = Buffer.alloc(MAX_BYTES);
    const { bytesRead } = await whileOpen(file, () => file.read(bytes, 0, MAX_BYTES, 0));
    return bytes.toString('utf8', 0, bytesRead);
  }

  /** Resolves when the text is on disk. Throws DRV_NODE_ROOT_UNUSABLE; then the former content stays. */
  async write(text: string): Promise<void> {
    try {
      await mkdir(this.#directory, { mode: 0o700 }).catch((error: unknown) => {
        if (!hasFileCode(error, 'EEXIST')) throw error;
      });
      await replaceFile(join(this.#directory, this.#file), text);
    } catch (error) {
      throw this.#unusable('written', error);
    }
  }

  async remove(): Promise<void> {
    await rm(join(this.#directory, this.#file), { force: true });
  }

  #unusable(what: 'read' | 'written', cause: unknown): DroverError {
    return new DroverError('DRV_NODE_ROOT_UNUSABLE', `${this.name} cannot be ${what}: ${fileReason(cause)}`, {
      cause,
    });
  }
}
