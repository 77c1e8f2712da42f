/**
 * Writes and removes configuration files for the API. It chooses the file of a configuration, and finds the files
 * that say its name.
 */
import { eachBounded, FILE_PARALLELISM } from '../loop/each-bounded.js';
import type { ConfigurationRecord } from '../model/configuration.js';
import { DroverError } from '../model/errors.js';
import { unknownConfiguration } from '../model/unknown.js';
import type { MirrorReader } from '../store/mirror.js';
import { OF_TEXT, type Reading, says } from './directory.js';
import { fileReason } from './file-reason.js';
import type { ParsedConfiguration } from './parse.js';
import { type Precondition, requireRevision } from './precondition.js';
import type { DirectorySource } from './source.js';

/** A change of one configuration by a caller. */
export interface ConfigurationEdit {
  readonly name: string;
  /** Undefined: the configuration goes. */
  readonly content: ParsedConfiguration | undefined;
  readonly precondition?: Precondition | undefined;
}

/** Why edits were refused, by name: DRV_CONFIGURATION_CHANGED, DRV_CONFIGURATION_UNKNOWN, or what the editor throws. */
export type Refusals = ReadonlyMap<string, unknown>;

/**
 * Changes configurations for the API, one call at a time. An editor may change only the files; the records
 * then follow.
 */
export interface ConfigurationEditor {
  /**
   * Makes edits of different configurations, each for itself; all of them write, or all remove. Resolves when those
   * that are not refused are durable. Never throws.
   */
  edit(edits: readonly ConfigurationEdit[]): Promise<Refusals>;
}

/** Writes the files first, one call at a time. Where it refuses with DRV_CONFIGURATION_NOT_WRITABLE, the file is unchanged. */
export class ConfigurationFileWriter implements ConfigurationEditor {
  readonly #source: DirectorySource;
  readonly #configurations: MirrorReader<ConfigurationRecord>;
  /** The readings that the present call has made anew, by file. */
  readonly #read = new Map<string, Promise<Reading | undefined>>();
  /** The configuration that each file holds: by the records, or as the present call has chosen. */
  readonly #holders = new Map<string, string>();

  constructor(source: DirectorySource, configurations: MirrorReader<ConfigurationRecord>) {
    this.#source = source;
    this.#configurations = configurations;
  }

  async edit(edits: readonly ConfigurationEdit[]): Promise<Refusals> {
    const refusals = new Map<string, unknown>();
    const attempt = async (some: readonly ConfigurationEdit[], work: () => Promise<void>): Promise<void> => {
      try {
        await work();
      } catch (error) {
        for (const edit of some)
          if (!refusals.has(edit.name)) refusals.set(edit.name, refusalOf(edit, error));
      }
    };
    this.#read.clear();
    this.#holders.clear();
    for (const [name, { value }] of this.#configurations.entries())
      if (this.#isOurs(value)) this.#holders.set(value.sourceFile, name);
    await attempt(edits, () => this.#look(edits));
    if (refusals.size > 0) return refusals;
    await eachBounded(edits, FILE_PARALLELISM, undefined, (edit) => attempt([edit], () => this.#make(edit)));
    await attempt(edits, () => this.#source.settle());
    return refusals;
  }

  /** Throws when the directory cannot be used. */
  async #look(edits: readonly ConfigurationEdit[]): Promise<void> {
    const source = this.#source;
    await source.readIfReplaced();
    // Read all files: any of them may have a name, even one that was not looked at yet.
    if (edits.some(({ precondition }) => precondition?.is === 'absent'))
      await source.read({ isFinal: false });
    if (source.fault !== undefined) throw new Error(`the configurations directory ${source.fault.message}`);
  }

  async #make({ name, content, precondition }: ConfigurationEdit): Promise<void> {
    // All files of a name are removed, so that no second file takes the name over.
    const files = content === undefined ? await this.#filesOf(name) : [];
    const mended = content === undefined ? undefined : await this.#brokenOf(name, precondition);
    if (mended === undefined) await this.#require(name, precondition);
    if (content === undefined) for (const file of files) await this.#source.removeFile(file);
    else await this.#source.writeFile(mended ?? (await this.#fileFor(name)), content);
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
    if (precondition === undefined) return;
    requireRevision(name, await this.#revisionOf(name), precondition);
    if (precondition.is !== 'absent') return;
    // The broken file still is somebody's configuration.
    const file = `${name}.json`;
    if (this.#source.files?.get(file)?.kind === 'broken')
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
    const reading = await this.#readFile(record?.sourceFile ?? `${name}.json`);
    if (says(reading, name)) return reading.parsed.hash;
    const others = [...(this.#source.files?.values() ?? [])];
    return record?.hash ?? others.find((one) => says(one, name))?.parsed.hash;
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
    const reading = await this.#readFile(file);
    if (reading?.kind === 'valid') return says(reading, name);
    if ((this.#holders.get(file) ?? name) !== name) return false;
    this.#holders.set(file, name);
    return true;
  }

  #readFile(file: string): Promise<Reading | undefined> {
    const reading = this.#read.get(file) ?? this.#source.readFile(file);
    this.#read.set(file, reading);
    return reading;
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
      const reading = await this.#readFile(file);
      if (reading?.kind !== 'valid' || says(reading, name)) files.push(file);
    }
    return files;
  }

  #isOurs(record: ConfigurationRecord): boolean {
    return record.sourceNode === this.#source.nodeId;
  }
}

function refusalOf({ name, content }: ConfigurationEdit, error: unknown): unknown {
  if (error instanceof DroverError) return error;
  const message = `configuration "${name}" could not be ${content === undefined ? 'removed' : 'written'}: ${fileReason(error)}`;
  return new DroverError('DRV_CONFIGURATION_NOT_WRITABLE', message, { cause: error });
}
