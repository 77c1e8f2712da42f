/**
 * Answers what the configuration files of one node say, as far as that can be believed. It reads when a caller asks.
 * The controllers observe it, and decide what that means for the records.
 */
import { unlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { renameInto } from '../files/replace-file.js';
import { syncPath } from '../files/sync-path.js';
import { ignoreMissing } from '../files/system-error.js';
import { ContentOrigins } from '../git/content-origins.js';
import { isTracked } from '../git/git-origins.js';
import type { NewestCommit } from '../git/newest-commit.js';
import type { Clock } from '../loop/clock.js';
import { eachBounded, FILE_PARALLELISM } from '../loop/each-bounded.js';
import type {
  BrokenText,
  ConfigurationFileError,
  ConfigurationFileWarning,
  ConfigurationRecord,
} from '../model/configuration.js';
import { type ConfigurationWrites, WRITES_TEXT } from '../model/plain/configuration-writes.js';
import type { Logger } from '../telemetry/logger.js';
import { DirectoryReader, DirectoryUnusable, faultOf, type Reading } from './directory.js';
import { fileTextFor, type NewContent } from './file-text.js';
import { FileWarningLog, fileWarnings } from './file-warnings.js';
import { SettledFiles } from './settled-files.js';

/** What the controllers observe of the files. */
export interface ConfigurationSource {
  /** The node whose files these are. */
  readonly nodeId: string;
  /** The readings by file name. Undefined: the files were never read, so there may be some. */
  readonly files: ReadonlyMap<string, Reading> | undefined;
  /** Files that looked broken or gone once and wait for a second look: a write may be under way. */
  readonly suspects: readonly string[];
  /** Why the directory cannot be used; undefined: it can. Until it can, the last reading of its files stands. */
  readonly fault: ConfigurationFileError | undefined;
  /** Identifies the directory that was read last, also across restarts; undefined: none was read. */
  readonly directoryId: string | undefined;
  /** The origins of contents: who brought them. */
  readonly origins: ContentOrigins;
  readonly writes: ConfigurationWrites;
}

interface DirectorySourceOptions {
  readonly nodeId: string;
  /** Absolute path of `configurations/`. */
  readonly directory: string;
  /** The setting; default: `state` where git tracks files of the directory, else `file`. */
  readonly writes?: ConfigurationWrites | undefined;
  /** The newest commit of all masters. Absent: no other master brings configurations. */
  readonly newest?: NewestCommit;
  readonly logger: Logger;
  readonly clock: Clock;
}

interface ReadOptions {
  /** True: broken and missing files are believed without a second look. */
  readonly isFinal: boolean;
  /** True: an empty directory that took the place of another is believed. */
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
  /** Files that were written or removed and are not settled, each with the directory that has its name. */
  readonly #changed = new Map<string, string>();
  /** How many readings have begun. */
  #begun = 0;
  #links: readonly string[] = [];
  #directories: readonly string[] = [];
  #onDoubt: ((file: string) => void) | undefined;
  #hasRead = false;
  #writes: ConfigurationWrites = 'file';
  #fault: ConfigurationFileError | undefined;

  constructor(options: DirectorySourceOptions) {
    this.nodeId = options.nodeId;
    this.directory = options.directory;
    this.#options = options;
    this.origins = new ContentOrigins(options.directory, options.logger);
    this.#reader = new DirectoryReader(options.directory, options.clock);
    this.#warningLog = new FileWarningLog(options.logger);
  }

  get files(): ReadonlyMap<string, Reading> | undefined {
    return this.#hasRead ? this.#settled.files : undefined;
  }

  get writes(): ConfigurationWrites {
    return this.#writes;
  }

  /** True when the directory is a clone, and other masters bring configurations, too. */
  get isClone(): boolean {
    return this.origins.order !== undefined;
  }

  /** Decides where changes go, and says it. Called once, before the first reading. */
  async decideWrites(): Promise<void> {
    const { writes, newest, directory, logger } = this.#options;
    const isOfGit = await isTracked(directory, logger);
    this.#writes = writes ?? (isOfGit ? 'state' : 'file');
    if (newest !== undefined && isOfGit && this.#writes !== 'file') this.origins.followCommits(newest);
    if (this.#writes === 'file' && !isOfGit) return;
    const who = isOfGit ? 'git tracks its files' : 'config.json says so';
    logger.info({ writes: this.#writes }, `${directory}: ${WRITES_TEXT[this.#writes]} (${who})`);
  }

  get suspects(): readonly string[] {
    return this.#settled.suspects;
  }

  get fault(): ConfigurationFileError | undefined {
    return this.#fault;
  }

  /** Fields of the files that have no effect. */
  get warnings(): readonly ConfigurationFileWarning[] {
    return fileWarnings(this.#settled.files);
  }

  get directoryId(): string | undefined {
    return this.#reader.id;
  }

  /** Paths of files that are symbolic links. */
  get links(): readonly string[] {
    return this.#links;
  }

  /** Paths of the subdirectories that are read. */
  get directories(): readonly string[] {
    return this.#directories;
  }

  /** Sets the only listener. It hears of each file that is not as it was read. */
  onDoubt(listener: (file: string) => void): void {
    this.#onDoubt = listener;
  }

  /**
   * True when a file is still as it was read. Also true when that cannot be known, because then the last
   * reading stands, and for a file that is still unreadable.
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
    const head = await this.origins.order?.head();
    try {
      const reading = await this.#reader.read(canBeReplaced);
      await this.origins.look(reading.files, this.#settled.files, head);
      const names = new Set([...this.#settled.files.keys(), ...this.suspects, ...reading.files.keys()]);
      const readings = new Map([...names].map((file) => [file, reading.files.get(file)]));
      this.#settled.take(readings, { number, isFinal });
      this.#links = reading.links;
      this.#directories = reading.directories;
      this.#warningLog.tellUnread(reading.unread);
      this.#hasRead = true;
      this.#fault = undefined;
      this.#tell();
    } catch (error) {
      if (!(error instanceof DirectoryUnusable)) throw error;
      this.#fault = faultOf(basename(this.directory), error.message);
    }
  }

  /**
   * Reads these files and the suspects. Reads the whole directory when that is not enough, for example after
   * it was replaced.
   */
  async readSome(files: readonly string[]): Promise<void> {
    const number = ++this.#begun;
    const isPossible = this.#hasRead && this.#fault === undefined && !this.isClone;
    const names = new Set([...files, ...this.suspects]);
    const readings = isPossible ? await this.#reader.readSome(names) : undefined;
    if (readings === undefined) return this.read({ isFinal: false });
    await this.origins.look(readings, this.#settled.files);
    this.#settled.take(readings, { number, isFinal: false });
    this.#tell();
  }

  /**
   * Reads the whole directory if another took its place since the last reading. Called before single files are read or
   * written.
   */
  async readIfReplaced(): Promise<void> {
    if (this.#fault !== undefined || !(await this.#reader.isSameDirectory()))
      await this.read({ isFinal: false });
  }

  /**
   * The text of the broken file of a configuration: of its own file, or of the first one that claims its name. `record`:
   * the content in force. Undefined: none is broken, or its text cannot be shown.
   */
  async textOfBroken(name: string, record: ConfigurationRecord | undefined): Promise<BrokenText | undefined> {
    const own = record?.sourceNode === this.nodeId ? record.sourceFile : undefined;
    for (const [file, reading] of this.files ?? [])
      if (
        reading.kind === 'broken' &&
        (file === own || (reading.error.name ?? basename(file, '.json')) === name)
      )
        return this.#reader.textOfBroken(file);
    return undefined;
  }

  /** Reads one file anew, and believes it. */
  async readFile(file: string): Promise<Reading | undefined> {
    return (await this.readFiles([file])).get(file);
  }

  /**
   * Reads these files anew and believes all of them at the same moment. So when two files are gone, neither
   * takes over the name of the other.
   */
  async readFiles(files: readonly string[]): Promise<ReadonlyMap<string, Reading | undefined>> {
    const number = ++this.#begun;
    const readings = new Map<string, Reading | undefined>();
    await eachBounded(files, FILE_PARALLELISM, undefined, async (file) => {
      readings.set(file, await this.#reader.readFile(file));
    });
    await this.origins.look(readings, this.#settled.files);
    this.#settled.take(readings, { number, isFinal: true });
    return readings;
  }

  /**
   * Writes a content into a file. The present text is edited, so what does not change keeps its bytes. The change is on
   * disk and believed after `settle`.
   */
  async writeFile(file: string, content: NewContent): Promise<void> {
    const present = await this.#reader.textOf(file);
    const { text, parsed } = fileTextFor(file, content, present);
    const options = {
      keep: true,
      onLoss: (reason: string) => this.#options.logger.warn({ file }, `${file} is written, but ${reason}`),
    };
    this.#changed.set(file, await renameInto(join(this.directory, file), text, options));
    if (parsed !== undefined) this.#reader.expect(file, text, parsed);
  }

  /** Removes a file. The removal is on disk and believed after `settle`. */
  async removeFile(file: string): Promise<void> {
    const path = join(this.directory, file);
    await unlink(path).catch(ignoreMissing);
    this.#changed.set(file, dirname(path));
  }

  /** Resolves when all that was written and removed is on disk, and believes it at one moment. */
  async settle(): Promise<void> {
    const changed = [...this.#changed];
    this.#changed.clear();
    for (const directory of new Set(changed.map(([, directory]) => directory)))
      await syncPath(directory).catch(ignoreMissing);
    await this.readFiles(changed.map(([file]) => file));
  }

  #tell(): void {
    const { suspects } = this;
    if (suspects.length > 0)
      this.#options.logger.debug({ suspects }, 'files look broken or gone; looking again');
    this.#warningLog.tell(this.#settled.files);
  }
}
