/** Writes the files of one of several masters after the records, which others write too. */
import { unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { replaceFile } from '../files/replace-file.js';
import { syncPath } from '../files/sync-path.js';
import { ignoreMissing } from '../files/system-error.js';
import { Conflict } from '../loop/reconciler.js';
import type { ConfigurationRecord } from '../model/configuration.js';
import type { DirectorySource } from './source.js';

/** A configuration as a file of this directory says it. */
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

  /** `present`: what the directory must say; undefined: nothing. Throws `Conflict` when it says something else. */
  async write(record: ConfigurationRecord, text: string, present: SaidHere | undefined): Promise<void> {
    const file = present === undefined ? await this.#freeFile(record) : await this.#fileWith(present);
    await replaceFile(join(this.#source.directory, file), text, { keepMode: true, throughLink: true });
    await this.#source.readFile(file);
  }

  /** Throws `Conflict` when the directory says something else. */
  async remove(present: SaidHere): Promise<void> {
    const source = this.#source;
    const file = await this.#fileWith(present);
    await unlink(join(source.directory, file)).catch(ignoreMissing);
    await source.readFile(file);
    await syncPath(source.directory);
  }

  /** The file that still says this content. */
  async #fileWith({ name, file, hash }: SaidHere): Promise<string> {
    const reading = file === undefined ? undefined : await this.#source.readFile(file);
    const isIt = reading?.kind === 'valid' && reading.parsed.configuration.name === name;
    if (file === undefined || !isIt || reading.parsed.hash !== hash) throw hasChanged(name);
    return file;
  }

  /** The name that the file has where it came from, unless something else has it here. */
  async #freeFile({ sourceFile, configuration: { name } }: ConfigurationRecord): Promise<string> {
    const source = this.#source;
    // Files that were there at the last look, and may be gone for a moment only.
    const unusable = new Set(source.suspects.filter((file) => source.files?.has(file)));
    for (let number = 0; ; number++) {
      const file = [sourceFile, `${name}.json`][number] ?? `${name}-${number}.json`;
      if (unusable.has(file)) continue;
      const reading = await source.readFile(file);
      if (reading === undefined) return file;
      // Somebody has put it here since the directory was read, or is about to: half a file says nothing yet.
      const isIt =
        reading.kind === 'valid' ? reading.parsed.configuration.name === name : file === sourceFile;
      if (isIt) throw hasChanged(name);
    }
  }
}

function hasChanged(name: string): Conflict {
  return new Conflict(`${name} has another content here now`);
}
