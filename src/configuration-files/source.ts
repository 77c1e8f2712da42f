/**
 * What the configuration files of one node say, as far as it may be believed. It reads when a caller asks. The
 * controller `configurations` observes it and decides what that means for the records.
 */
import { basename } from 'node:path';
import PQueue from 'p-queue';
import type { Clock } from '../loop/clock.js';
import type { ConfigurationFileError, ConfigurationFileWarning } from '../model/configuration.js';
import type { Logger } from '../telemetry/logger.js';
import { DirectoryReader, DirectoryUnusable, type Reading } from './directory.js';
import { FileWarningLog, fileWarnings } from './file-warnings.js';
import { ContentOrigins, type ContentSource } from './history/content-origins.js';
import { SettledFiles } from './settled-files.js';

/** What the controller `configurations` observes. */
export interface ConfigurationSource {
  /** The node whose files these are. */
  readonly nodeId: string;
  /** By file name. Undefined: the files were never read, so there may be some. */
  readonly files: ReadonlyMap<string, Reading> | undefined;
  /** Files that looked broken or gone once and wait for a second look: a write may be under way. */
  readonly suspects: readonly string[];
  /** Why the directory cannot be used; undefined: it can. Meanwhile the last reading of its files stands. */
  readonly fault: ConfigurationFileError | undefined;
  /** Whether somebody asked to remove this configuration. Without it, many that go at once wait. */
  isConfirmed(name: string): boolean;
  /**
   * Whether a file is there, as it was read. True also where that cannot be known: the last reading stands then. A file
   * that is there and cannot be read is as it was read.
   */
  isAsRead(file: string): Promise<boolean>;
  /** Who brought what the file of a configuration says now. */
  originOf(name: string, file: string): ContentSource;
}

/** Of a master whose records are the truth: nothing is concluded from files. */
export function unreadSource(nodeId: string): ConfigurationSource {
  return {
    nodeId,
    files: undefined,
    suspects: [],
    fault: undefined,
    isConfirmed: () => false,
    isAsRead: async () => true,
    originOf: (_name, file) => ({
      origin: { file, key: null, commit: null, isDirty: null },
      rollback: undefined,
    }),
  };
}

/** Names of configurations that somebody asked to remove. */
export type ConfirmedRemovals = ReadonlySet<string> | 'all';

const NONE: ConfirmedRemovals = new Set();

export interface DirectorySourceOptions {
  readonly nodeId: string;
  /** Absolute path of `configurations/`. */
  readonly directory: string;
  readonly logger: Logger;
  readonly clock: Clock;
}

export interface ReadOptions {
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
  /** One reading at a time: one that began before a write would be believed after the one that shows the write. */
  readonly #turns = new PQueue({ concurrency: 1 });
  #links: readonly string[] = [];
  #onDoubt: ((file: string) => void) | undefined;
  #hasRead = false;
  #confirmed: ConfirmedRemovals = NONE;
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

  /** What the files say without effect. */
  get warnings(): readonly ConfigurationFileWarning[] {
    return fileWarnings(this.#settled.files);
  }

  /** Names the directory that was read last, over restarts too; undefined: none was read. */
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

  isConfirmed(name: string): boolean {
    return this.#confirmed === 'all' || this.#confirmed.has(name);
  }

  /** While `work` runs, these removals need no further word. */
  async whileConfirmed(names: ConfirmedRemovals, work: () => Promise<void>): Promise<void> {
    this.#confirmed = names;
    try {
      await work();
    } finally {
      this.#confirmed = NONE;
    }
  }

  async isAsRead(file: string): Promise<boolean> {
    if (!this.#hasRead || this.#fault !== undefined) return true;
    const reading = this.#settled.files.get(file);
    if (reading === undefined) return false;
    const isSame = await this.#reader.hasSignature(file, reading.signature);
    if (!isSame) this.#onDoubt?.(file);
    return isSame;
  }

  originOf(name: string, file: string): ContentSource {
    return this.origins.of(name, file);
  }

  /** Reads the whole directory. When it cannot be used, `fault` says why and the rest stays as it was. */
  read(options: ReadOptions): Promise<void> {
    return this.#turns.add(() => this.#read(options));
  }

  async #read({ isFinal, canBeReplaced = false }: ReadOptions): Promise<void> {
    try {
      const reading = await this.#reader.read(canBeReplaced);
      await this.origins.look(reading.files, this.#settled.files);
      this.#settled.takeAll(reading.files, isFinal);
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
  readSome(files: readonly string[]): Promise<void> {
    return this.#turns.add(() => this.#readSome(files));
  }

  async #readSome(files: readonly string[]): Promise<void> {
    const isPossible = this.#hasRead && this.#fault === undefined;
    const names = new Set([...files, ...this.suspects]);
    const readings = isPossible ? await this.#reader.readSome(names) : undefined;
    if (readings === undefined) return this.#read({ isFinal: false });
    await this.origins.look(readings, this.#settled.files);
    this.#settled.take(readings, false);
    this.#tell();
  }

  /**
   * Reads the whole directory when it is not the one that was read last. Called before single files are read or
   * written.
   */
  readIfReplaced(): Promise<void> {
    return this.#turns.add(async () => {
      if (this.#fault !== undefined || !(await this.#reader.isSameDirectory()))
        await this.#read({ isFinal: false });
    });
  }

  /** Reads one file anew, and believes it. */
  readFile(file: string): Promise<Reading | undefined> {
    return this.#turns.add(async () => {
      const reading = await this.#reader.readFile(file);
      await this.origins.look([[file, reading]], this.#settled.files);
      this.#settled.set(file, reading);
      return reading;
    });
  }

  /**
   * Reads these files anew and believes all of them at the same moment. Of two that are gone, neither takes the
   * other's name.
   */
  readFiles(files: readonly string[]): Promise<void> {
    return this.#turns.add(async () => {
      const found = await Promise.all(files.map((file) => this.#reader.readFile(file)));
      const readings = files.map((file, index) => [file, found[index]] as const);
      await this.origins.look(readings, this.#settled.files);
      for (const [file, reading] of readings) this.#settled.set(file, reading);
    });
  }

  #tell(): void {
    const { suspects } = this;
    if (suspects.length > 0)
      this.#options.logger.debug({ suspects }, 'files look broken or gone; looking again');
    this.#warningLog.tell(this.#settled.files);
  }
}
