/** Writes the configuration files of one of several masters, after the shared records have changed. */
import { unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { replaceFile } from '../files/replace-file.js';
import { syncPath } from '../files/sync-path.js';
import { ignoreMissing } from '../files/system-error.js';
import { Conflict } from '../loop/reconciler.js';
import type { ConfigurationRecord } from '../model/configuration.js';
import type { DirectorySource } from './source.js';

/** The content of a configuration that a file of this directory has. */
export interface SaidHere {
  readonly name: string;
  readonly file: string | undefined;
  readonly hash: string;
}

export class LocalFiles {
  readonly #source: DirectorySource;

  constructor(source: DirectorySource) {
    this.#source = source;
  }

  /**
   * Writes the file. `present`: the content that the directory must have; undefined: none. Throws `Conflict` otherwise.
   */
  async write(record: ConfigurationRecord, text: string, present: SaidHere | undefined): Promise<void> {
    const file = present === undefined ? await this.#freeFile(record) : await this.#fileWith(present);
    await replaceFile(join(this.#source.directory, file), text, { keepMode: true, throughLink: true });
    await this.#source.readFile(file);
  }

  /** Removes the file. Throws `Conflict` when it has another content. */
  async remove(present: SaidHere): Promise<void> {
    const source = this.#source;
    const file = await this.#fileWith(present);
    await unlink(join(source.directory, file)).catch(ignoreMissing);
    await source.readFile(file);
    await syncPath(source.directory);
  }

  /** The file, if it still has this content. Throws `Conflict` otherwise. */
  async #fileWith({ name, file, hash }: SaidHere): Promise<string> {
    const reading = file === undefined ? undefined : await this.#source.readFile(file);
    const isIt = reading?.kind === 'valid' && reading.parsed.configuration.name === name;
    if (file === undefined || !isIt || reading.parsed.hash !== hash) throw hasChanged(name);
    return file;
  }

  /** The file name that the record names, unless this directory has another configuration under that name. */
  async #freeFile({ sourceFile, configuration: { name } }: ConfigurationRecord): Promise<string> {
    const source = this.#source;
    // Skip files that were there at the last look: they may be missing only for a moment.
    const unusable = new Set(source.suspects.filter((file) => source.files?.has(file)));
    for (let number = 0; ; number++) {
      const file = [sourceFile, `${name}.json`][number] ?? `${name}-${number}.json`;
      if (unusable.has(file)) continue;
      const reading = await source.readFile(file);
      if (reading === undefined) return file;
      // Somebody has just written the configuration here, or is about to: a half-written file has no name yet.
      const isIt =
        reading.kind === 'valid' ? reading.parsed.configuration.name === name : file === sourceFile;
      if (isIt) throw hasChanged(name);
    }
  }
}

function hasChanged(name: string): Conflict {
  return new Conflict(`${name} has another content here now`);
}
