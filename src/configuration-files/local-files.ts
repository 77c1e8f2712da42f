/** Writes the configuration files of one of several masters, after the shared records have changed. */
import { isDeepStrictEqual } from 'node:util';
import { Conflict } from '../loop/reconciler.js';
import { type Configuration, type ConfigurationRecord, configurationSchema } from '../model/configuration.js';
import { DroverError } from '../model/errors.js';
import { attempt } from '../model/plain/attempt.js';
import { says } from './directory.js';
import type { NewContent } from './file-text.js';
import { validateConfiguration } from './parse.js';
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
   * Writes the content into the file of its record. `present`: the content that the directory must still have; undefined: it must have none.
   * Throws `Conflict` otherwise.
   */
  async write(
    record: ConfigurationRecord,
    content: NewContent,
    present: SaidHere | undefined,
  ): Promise<void> {
    const file = present === undefined ? await this.#freeFile(record) : await this.#fileWith(present);
    await this.#source.writeFile(file, content);
    await this.#source.settle();
  }

  /** Removes the file. Throws `Conflict` when it has another content. */
  async remove(present: SaidHere): Promise<void> {
    await this.#source.removeFile(await this.#fileWith(present));
    await this.#source.settle();
  }

  /** The file, if it still has this content. Throws `Conflict` otherwise. */
  async #fileWith({ name, file, hash }: SaidHere): Promise<string> {
    const reading = file === undefined ? undefined : await this.#source.readFile(file);
    if (file === undefined || !says(reading, name) || reading.parsed.hash !== hash) throw hasChanged(name);
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
      if (reading.kind === 'valid' ? says(reading, name) : file === sourceFile) throw hasChanged(name);
    }
  }
}

function hasChanged(name: string): Conflict {
  return new Conflict(`${name} has another content here now`);
}

/**
 * The content of a file for this configuration, without fields at their defaults. Throws DRV_CONFIGURATION_INVALID when
 * it would not have the hash `hash`: another version of Drover wrote the record.
 */
export function contentOfRecord(configuration: Configuration, hash: string): NewContent {
  const { name, command } = configuration;
  const defaults: object = configurationSchema.parse({ name, command });
  const entries = Object.entries(configuration).filter(
    ([field, value]) =>
      field === 'name' || field === 'command' || !isDeepStrictEqual(value, Reflect.get(defaults, field)),
  );
  for (const content of [Object.fromEntries(entries), configuration]) {
    if (attempt(() => validateConfiguration(name, content).hash) === hash)
      return { configuration, content, hash };
  }
  throw new DroverError(
    'DRV_CONFIGURATION_INVALID',
    `configuration "${name}" comes from another version of Drover, and cannot be written as a file here`,
  );
}
