/**
 * What the configuration files of one node say, as far as it may be believed. It reads when a caller asks. The
 * controllers observe it and decide what that means for the records.
 */
import { basename } from 'node:path';
import type { Clock } from '../loop/clock.js';
import type { ConfigurationFileError, ConfigurationFileWarning } from '../model/configuration.js';
import type { Logger } from '../telemetry/logger.js';
import { DirectoryReader, DirectoryUnusable, type Reading } from './directory.js';
import { FileWarningLog, fileWarnings } from './file-warnings.js';
import { ContentOrigins } from './history/content-origins.js';
import { SettledFiles } from './settled-files.js';

/** What the controllers observe of the files. */
export interface ConfigurationSource {
  /** The node whose files these are. */
  readonly nodeId: string;
  /** By file name. Undefined: the files were never read, so there may be some. */
  readonly files: ReadonlyMap<string, Reading> | undefined;
  /** Files that looked broken or gone once and wait for a second look: a write may be under way. */
  readonly suspects: readonly string[];
  /** Why the directory cannot be used; undefined: it can. Meanwhile the last reading of its files stands. */
  readonly fault: ConfigurationFileError | undefined;
  /** Names the directory that was read last, over restarts too; undefined: none was read. */
  readonly directoryId: string | undefined;
  /** Who brought what the files say. */
  readonly origins: Pick<ContentOrigins, 'of' | 'ofFile' | 'ofWriter'>;
}

interface DirectorySourceOptions {
  readonly nodeId: string;
  /** Absolute path of `configurations/`. */
  readonly directory: string;
  readonly logger: Logger;
  readonly clock: Clock;
}

interface ReadOptions {
  /** Believe broken and missing files without a second look. */
  readonly isFinal: boolean;
  /** Believe an empty directory that took the place of another. */
  readonly canBeReplaced?: boolean;
}

export class DirectorySource implements ConfigurationSource {
  readonly nodeId: string;
  readonly directory: string;
  readonly origins: ContentOrigins;
  readonly #options: DirectorySourceOptions;
  readonly #reader: DirectoryReader;
  readonly #settled = new SettledFiles();
  readonly #warningLog: FileWarningLog;
  /** How many readings have begun. */
  #begun = 0;
  #links: readonly string[] = [];
  #onDoubt: ((file: string) => void) | undefined;
  #hasRead = false;
  #fault: ConfigurationFileError | undefined;

  constructor(options: DirectorySourceOptions) {
    this.nodeId = options.nodeId;
    this.directory = options.directory;
    this.#options = options;
    this.origins = new ContentOrigins(options.directory, options.logger);
    this.#reader = new DirectoryReader(options);
    this.#warningLog = new FileWarningLog(options.logger);
  }

  get files(): ReadonlyMap<string, Reading> | undefined {
    return this.#hasRead ? this.#settled.files : undefined;
  }

  get suspects(): readonly string[] {
    return this.#settled.suspects;
  }

  get fault(): ConfigurationFileError | undefined {
    return this.#fault;
  }

  /** Fields of the files without effect. */
  get warnings(): readonly ConfigurationFileWarning[] {
    return fileWarnings(this.#settled.files);
  }

  get directoryId(): string | undefined {
    return this.#reader.id;
  }

  /** Names of files that are symbolic links. */
  get links(): readonly string[] {
    return this.#links;
  }

  /** Sets the one listener. It hears of a file that was found to be other than it was read. */
  onDoubt(listener: (file: string) => void): void {
    this.#onDoubt = listener;
  }

  /**
   * Whether a file is there, as it was read. True also where that cannot be known: the last reading stands then. A file
   * that is there and cannot be read is as it was read.
   */
  async isAsRead(file: string): Promise<boolean> {
    if (!this.#hasRead || this.#fault !== undefined) return true;
    const reading = this.#settled.files.get(file);
    if (reading === undefined) return false;
    const isSame = await this.#reader.hasSignature(file, reading.signature);
    if (!isSame) this.#onDoubt?.(file);
    return isSame;
  }

  /** Reads the whole directory. When it cannot be used, `fault` says why and the rest stays as it was. */
  async read({ isFinal, canBeReplaced = false }: ReadOptions): Promise<void> {
    const number = ++this.#begun;
    try {
      const reading = await this.#reader.read(canBeReplaced);
      await this.origins.look(reading.files, this.#settled.files);
      const names = new Set([...this.#settled.files.keys(), ...this.suspects, ...reading.files.keys()]);
      const readings = new Map([...names].map((file) => [file, reading.files.get(file)]));
      this.#settled.take(readings, { number, isFinal });
      this.#links = reading.links;
      this.#hasRead = true;
      this.#fault = undefined;
      this.#tell();
    } catch (error) {
      if (!(error instanceof DirectoryUnusable)) throw error;
      const file = basename(this.directory);
      this.#fault = { file, line: null, column: null, field: null, message: error.message };
    }
  }

  /** Reads these files and the suspects. Reads the whole directory instead where that is not enough. */
  async readSome(files: readonly string[]): Promise<void> {
    const number = ++this.#begun;
    const isPossible = this.#hasRead && this.#fault === undefined;
    const names = new Set([...files, ...this.suspects]);
    const readings = isPossible ? await this.#reader.readSome(names) : undefined;
    if (readings === undefined) return this.read({ isFinal: false });
    await this.origins.look(readings, this.#settled.files);
    this.#settled.take(readings, { number, isFinal: false });
    this.#tell();
  }

  /**
   * Reads the whole directory when it is not the one that was read last. Called before single files are read or
   * written.
   */
  async readIfReplaced(): Promise<void> {
    if (this.#fault !== undefined || !(await this.#reader.isSameDirectory()))
      await this.read({ isFinal: false });
  }

  /** Reads one file anew, and believes it. */
  async readFile(file: string): Promise<Reading | undefined> {
    return (await this.readFiles([file])).get(file);
  }

  /**
   * Reads these files anew and believes all of them at the same moment. So neither of two files that are gone takes the
   * other's name.
   */
  async readFiles(files: readonly string[]): Promise<ReadonlyMap<string, Reading | undefined>> {
    const number = ++this.#begun;
    const found = await Promise.all(files.map((file) => this.#reader.readFile(file)));
    const readings = new Map(files.map((file, index) => [file, found[index]]));
    await this.origins.look(readings, this.#settled.files);
    this.#settled.take(readings, { number, isFinal: true });
    return readings;
  }

  #tell(): void {
    const { suspects } = this;
    if (suspects.length > 0)
      this.#options.logger.debug({ suspects }, 'files look broken or gone; looking again');
    this.#warningLog.tell(this.#settled.files);
  }
}
