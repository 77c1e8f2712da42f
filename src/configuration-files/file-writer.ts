/**
 * Writes and removes configuration files for the API. It chooses the file of a configuration, and finds the files
 * that say its name.
 */
import type { ConfigurationRecord } from '../model/configuration.js';
import { DroverError } from '../model/errors.js';
import { unknownConfiguration } from '../model/unknown.js';
import type { MirrorReader } from '../store/mirror.js';
import { OF_TEXT, says } from './directory.js';
import { fileReason } from './file-reason.js';
import type { ParsedConfiguration } from './parse.js';
import { type Precondition, requireRevision } from './precondition.js';
import type { DirectorySource } from './source.js';

/**
 * Changes configurations for the API, one call at a time. An editor may change only the files; the records
 * then follow.
 */
export interface ConfigurationEditor {
  /** Writes the configuration. Throws DRV_CONFIGURATION_CHANGED when the precondition does not hold. */
  write(name: string, content: ParsedConfiguration, precondition?: Precondition): Promise<void>;
  /** Removes the configuration. Throws DRV_CONFIGURATION_CHANGED or DRV_CONFIGURATION_UNKNOWN. */
  remove(name: string, precondition?: Precondition): Promise<void>;
  /** Makes many changes: `work` calls `write` and `remove`. The files that they look at anew may be read once for all. */
  together?(work: () => Promise<void>): Promise<void>;
}

/**
 * Writes the files first, one call at a time. When it throws DRV_CONFIGURATION_NOT_WRITABLE, the files are unchanged.
 */
export class ConfigurationFileWriter implements ConfigurationEditor {
  readonly #source: DirectorySource;
  readonly #configurations: MirrorReader<ConfigurationRecord>;
  /** True when all files were read for the changes that are made together. */
  #hasReadAll = false;

  constructor(source: DirectorySource, configurations: MirrorReader<ConfigurationRecord>) {
    this.#source = source;
    this.#configurations = configurations;
  }

  async together(work: () => Promise<void>): Promise<void> {
    this.#hasReadAll = false;
    await work();
  }

  /** Resolves when the file is on disk and read back. */
  async write(name: string, content: ParsedConfiguration, precondition?: Precondition): Promise<void> {
    await this.#attempt(`configuration "${name}" could not be written`, async () => {
      const mended = await this.#brokenOf(name, precondition);
      if (mended === undefined) await this.#require(name, precondition);
      await this.#source.writeFile(mended ?? (await this.#fileFor(name)), content);
    });
  }

  /**
   * Removes every file whose configuration has the name `name`, so that no second file takes the name over.
   * Throws DRV_CONFIGURATION_UNKNOWN.
   */
  async remove(name: string, precondition?: Precondition): Promise<void> {
    await this.#attempt(`configuration "${name}" could not be removed`, async () => {
      const files = await this.#filesOf(name);
      await this.#require(name, precondition);
      await this.#source.removeFiles(files);
    });
  }

  /**
   * The broken file whose text the precondition names; undefined: it names no text. Throws DRV_CONFIGURATION_CHANGED when
   * the file has another text now, so that nobody replaces what was not shown.
   */
  async #brokenOf(name: string, precondition: Precondition | undefined): Promise<string | undefined> {
    if (precondition?.is !== 'existing') return undefined;
    if (precondition.revisions?.some((revision) => revision.startsWith(OF_TEXT)) !== true) return undefined;
    const broken = await this.#source.textOfBroken(name, this.#configurations.get(name)?.value);
    requireRevision(name, broken?.revision ?? (await this.#revisionOf(name)), precondition);
    return broken?.file;
  }

  async #require(name: string, precondition: Precondition | undefined): Promise<void> {
    // Read all files: any of them may have the name, even one that was not looked at yet.
    if (precondition?.is === 'absent' && !this.#hasReadAll) {
      await this.#source.read({ isFinal: false });
      this.#hasReadAll = true;
    }
    if (precondition !== undefined) requireRevision(name, await this.#revisionOf(name), precondition);
    if (precondition?.is === 'absent') await this.#requireNoBroken(name);
  }

  /** Throws when the file `<name>.json` is broken, because it still is somebody's configuration. */
  async #requireNoBroken(name: string): Promise<void> {
    const file = `${name}.json`;
    if ((await this.#source.readFile(file))?.kind !== 'broken') return;
    throw new DroverError(
      'DRV_CONFIGURATION_CHANGED',
      `configuration "${name}" was there before, in ${file}, which is not valid now`,
    );
  }

  /**
   * The revision of the file with this name, which may not be in force yet. Else the revision in force, or
   * that of another file whose configuration has the name.
   */
  async #revisionOf(name: string): Promise<string | undefined> {
    const record = this.#configurations.get(name)?.value;
    if (record !== undefined && !this.#isOurs(record)) return record.hash;
    const reading = await this.#source.readFile(record?.sourceFile ?? `${name}.json`);
    if (says(reading, name)) return reading.parsed.hash;
    const others = [...(this.#source.files?.values() ?? [])];
    return record?.hash ?? others.find((one) => says(one, name))?.parsed.hash;
  }

  async #attempt(what: string, work: () => Promise<void>): Promise<void> {
    await this.#source.readIfReplaced();
    const { fault } = this.#source;
    try {
      if (fault !== undefined) throw new Error(`the configurations directory ${fault.message}`);
      await work();
    } catch (error) {
      if (error instanceof DroverError) throw error;
      const message = `${what}: ${fileReason(error)}`;
      throw new DroverError('DRV_CONFIGURATION_NOT_WRITABLE', message, { cause: error });
    }
  }

  /** The file that `name` came from, unless the file now has another name; else the first free file name. */
  async #fileFor(name: string): Promise<string> {
    const present = this.#configurations.get(name)?.value;
    const source = present !== undefined && this.#isOurs(present) ? present.sourceFile : undefined;
    if (source !== undefined && (await this.#canHold(source, name))) return source;
    for (let number = 1; ; number++) {
      const file = number === 1 ? `${name}.json` : `${name}-${number}.json`;
      if (await this.#canHold(file, name)) return file;
    }
  }

  async #canHold(file: string, name: string): Promise<boolean> {
    const reading = await this.#source.readFile(file);
    if (reading?.kind === 'valid') return says(reading, name);
    for (const [other, { value }] of this.#configurations.entries())
      if (this.#isOurs(value) && value.sourceFile === file && other !== name) return false;
    return true;
  }

  async #filesOf(name: string): Promise<string[]> {
    const record = this.#configurations.get(name)?.value;
    if (record === undefined) throw unknownConfiguration(name);
    const { sourceFile, sourceNode } = record;
    if (!this.#isOurs(record))
      throw new Error(
        `it came from ${sourceFile} of node ${sourceNode}, whose files are not read here; write it here first`,
      );
    const files: string[] = [];
    for (const [file, settled] of [...(this.#source.files ?? [])]) {
      if (file !== sourceFile && !says(settled, name)) continue;
      const reading = await this.#source.readFile(file);
      if (reading?.kind !== 'valid' || says(reading, name)) files.push(file);
    }
    return files;
  }

  #isOurs(record: ConfigurationRecord): boolean {
    return record.sourceNode === this.#source.nodeId;
  }
}
