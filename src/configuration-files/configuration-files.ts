/**
 * Keeps configuration files and store in line, both ways: an operator's files reach the store, and a change through the
 * API reaches the directory first. This part decides when to look; `follower` decides what the files mean for the
 * records.
 */
import { join } from 'node:path';
import PQueue from 'p-queue';
import { removeUnfinishedWrites } from '../files/replace-file.js';
import { watchRefusal } from '../files/watch-directory.js';
import type { FileWriter } from '../git/content-origins.js';
import { Bell } from '../loop/bell.js';
import type { Clock } from '../loop/clock.js';
import type { Part } from '../loop/lifecycle.js';
import type {
  BrokenText,
  ConfigurationFileError,
  ConfigurationFileWarning,
  ConfigurationRecord,
} from '../model/configuration.js';
import {
  type ConfigurationOverrides,
  fileOf,
  type OverriddenState,
  withoutOverride,
} from '../model/configuration-overrides.js';
import { DroverError, messageOf } from '../model/errors.js';
import { unknownWaits } from '../model/fields/waits-for.js';
import { refuseFrozen, type Timetable } from '../model/schedule.js';
import type { MirrorReader } from '../store/mirror.js';
import type { Logger } from '../telemetry/logger.js';
import type { Confirmed } from '../views/view.js';
import { type Change, ChangeTurns } from './change-turns.js';
import { DirectoryReader, type Reading } from './directory.js';
import { configurationFileText } from './file-text.js';
import { type ConfigurationEditor, ConfigurationFileWriter } from './file-writer.js';
import { type DirectoryInGit, GitDirectory } from './git-directory.js';
import { LookSchedule } from './look-schedule.js';
import { type ParsedConfiguration, validateConfiguration } from './parse.js';
import type { Precondition } from './precondition.js';
import type { FileConflict, RecordFollower } from './record-follower.js';
import type { DirectorySource } from './source.js';
import { ConfigurationWatch, findWatchPoints } from './watch.js';

/** The wait before the second look at a file that looks broken or gone. */
const SECOND_LOOK_MS = 100;
/** The interval of looks where file events do not reach: network mounts, or a missing directory. */
const POLL_MS = 1000;
/** The interval of looks without an event: events may be lost. */
const SAFETY_LOOK_MS = 30_000;
/**
 * The most hinted files that are looked at one by one. With more, look at everything, because events may have
 * been lost.
 */
const MAX_HINTS = 1000;

/** The configuration files of the other masters that share the records. */
export interface OtherFiles {
  /**
   * Faults of all masters' files whose present content is not in force, each with its node, and of templates
   * in conflict, of this node, too.
   */
  faults(): readonly ConfigurationFileError[];
  /**
   * Resolves when all masters that can be reached have read their files again. `isConfirmed`: the caller
   * confirms the removal of all configurations without a file, however many.
   */
  reload(isConfirmed: boolean): Promise<void>;
}

interface ConfigurationFilesOptions {
  /** The files of this node. Only this part reads them. */
  readonly source: DirectorySource;
  /** Decides what the files mean for the records. Started and stopped with this part. */
  readonly follower: RecordFollower & ConfigurationEditor;
  /** Changes the records first, on a store that masters share. Default: writes the files first. */
  readonly editor?: ConfigurationEditor;
  /** The other masters; absent: this is the only master. */
  readonly others?: OtherFiles;
  readonly configurations: MirrorReader<ConfigurationRecord>;
  readonly overrides: MirrorReader<ConfigurationOverrides>;
  readonly timetables: MirrorReader<Timetable>;
  readonly logger: Logger;
  readonly clock: Clock;
}

interface WriteOptions {
  readonly precondition?: Precondition | undefined;
  /** The caller who writes; absent: not known. */
  readonly by?: FileWriter | undefined;
}

export class ConfigurationFiles implements Part {
  readonly #options: ConfigurationFilesOptions;
  readonly #source: DirectorySource;
  readonly #git: GitDirectory;
  readonly #fileEditor: ConfigurationEditor;
  readonly #watch: ConfigurationWatch;
  readonly #schedule: LookSchedule;
  readonly #stopping = new AbortController();
  /** Runs looks, puts and removals one at a time. */
  readonly #queue = new PQueue({ concurrency: 1 });
  readonly #turns: ChangeTurns;
  /** Files that may have changed since the last look. */
  readonly #hinted = new Set<string>();
  #isAllHinted = false;
  #nextFullLookAt = 0;
  #isStarted = false;
  #isPolling = false;
  #wasStored = false;
  /** Rings when the store agrees with the files. */
  readonly #stored = new Bell();
  readonly #listeners = new Set<() => void>();

  constructor(options: ConfigurationFilesOptions) {
    this.#options = options;
    this.#source = options.source;
    this.#git = new GitDirectory(options.source.directory, options.clock);
    this.#fileEditor = options.editor ?? new ConfigurationFileWriter(options.source, options.configurations);
    this.#turns = new ChangeTurns({
      queue: this.#queue,
      origins: options.source.origins,
      configurations: options.configurations,
      follow: (confirmed) => this.#follow(confirmed),
    });
    this.#schedule = new LookSchedule(options.clock, () => void this.#queue.add(() => this.#lookAtHints()));
    options.source.onDoubt((file) => this.#hint(file));
    this.#watch = new ConfigurationWatch({
      onHint: (file) => this.#hint(file),
      onFailure: (error) => this.#poll(error),
    });
  }

  /**
   * Resolves when the store durably holds what the files say. While the store refuses writes, the start waits, unless
   * other masters use the store too. An unreadable directory does not fail the start: the store's configurations stay
   * in force.
   */
  async start(): Promise<void> {
    await this.#source.decideWrites();
    if (this.#source.writes === 'file') await removeUnfinishedWrites(this.#source.directory);
    await this.#options.follower.start();
    this.#isStarted = true;
    await this.#queue.add(() => this.#look(() => this.#source.read({ isFinal: true })));
    for (const inner of this.#source.directories)
      await removeUnfinishedWrites(join(this.#source.directory, inner));
    // Do not wait when masters share the records: these exist whatever the files say, and the leader may be away.
    if (this.#options.editor === undefined && !this.#wasStored)
      await this.#stored.wait(this.#stopping.signal);
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#queue.onIdle();
    this.#schedule.stop();
    await this.#watch.stop();
    await this.#options.follower.stop();
  }

  /** Faults of the files whose present content is not in force, and of templates in conflict, of all masters. */
  errors(): readonly ConfigurationFileError[] {
    return [...this.ownErrors(), ...(this.#options.others?.faults() ?? [])];
  }

  /** Faults of this node's files whose present content is not in force, and of its templates in conflict. */
  ownErrors(): readonly ConfigurationFileError[] {
    return this.#options.follower.faults();
  }

  /** Calls `listener` after each look at the files, after which `errors` may answer something else. Returns the function that removes the listener. */
  onLook(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Configurations without a file here whose removal waits to be confirmed. */
  waiting(): ReadonlySet<string> {
    return new Set(this.#options.follower.waiting());
  }

  /**
   * Called before an instance is made. False when the file of its configuration was removed or changed since
   * it was read; the file is then looked at again.
   */
  async isInForce(record: ConfigurationRecord): Promise<boolean> {
    const { name } = record.configuration;
    return (
      record.sourceNode !== this.#source.nodeId ||
      this.#options.overrides.get(name)?.value.is === 'made' ||
      this.waiting().has(name) ||
      this.#source.isAsRead(record.sourceFile)
    );
  }

  /** The last reading of each file, by file name. */
  readings(): ReadonlyMap<string, Reading> {
    return this.#source.files ?? new Map();
  }

  /** The standing of the directory and its files in git. It asks git only when something changed. Never throws. */
  inGit(): Promise<DirectoryInGit> {
    return this.#git.look(this.readings());
  }

  /** True when the file was not as the commit of its git work tree has it when it was read last. */
  isOffCommit(file: string): boolean {
    return this.#source.origins.ofFile(file).origin.isDirty === true;
  }

  /** Files that were changed here and elsewhere. */
  conflicts(): readonly FileConflict[] {
    return this.#options.follower.conflicts();
  }

  /** Where the files are, an absolute path on this node, and where changes through the API go. */
  place(): Pick<DirectorySource, 'nodeId' | 'directory' | 'isClone' | 'writes'> {
    return this.#source;
  }

  /** Fields of the files that have no effect. */
  warnings(): readonly ConfigurationFileWarning[] {
    return this.#source.warnings;
  }

  /** As `write`, for a content that is not judged yet. Throws DRV_CONFIGURATION_INVALID, too. */
  async put(name: string, input: unknown, options?: WriteOptions) {
    const parsed = validateConfiguration(name, input);
    await this.write(name, parsed, options);
    const isKnown = (other: string): boolean => this.#options.configurations.get(other) !== undefined;
    return { ...parsed, warnings: [...parsed.warnings, ...unknownWaits(parsed.configuration, isKnown)] };
  }

  /**
   * Writes the file, then the store; only the store, where Drover does not write the files. Resolves once both are
   * durable. The file keeps fields that the schema does not know. Throws DRV_CONFIGURATION_INVALID when the content is
   * too large, DRV_CONFIGURATION_CHANGED or DRV_CONFIGURATION_NOT_WRITABLE; then nothing changed. Throws also what the
   * store throws; then the file stands, and applies as soon as the store takes writes.
   */
  async write(
    name: string,
    content: ParsedConfiguration,
    { precondition, by }: WriteOptions = {},
  ): Promise<void> {
    // Refuse here what no file could hold, whatever writes it.
    configurationFileText(name, content.content);
    this.#requireWritable(name);
    await this.#change({ edit: { name, content, precondition }, editor: this.#editor, by });
  }

  /**
   * Takes the file's value of one field again, or the whole file; `field` undefined: the whole. Allowed, too, where
   * changes are refused. Throws DRV_OVERRIDE_UNKNOWN.
   */
  async reset(name: string, field: string | undefined, by?: FileWriter): Promise<void> {
    // After the changes that wait: they may change the override.
    await this.#queue.add(() => undefined);
    const state = this.#stateOf(name);
    const content = withoutOverride(state, field);
    if (content === undefined)
      throw new DroverError(
        'DRV_OVERRIDE_UNKNOWN',
        `configuration "${name}" has no override of ${field ?? 'a file'}: config overrides lists them`,
      );
    const precondition: Precondition =
      state.record === undefined ? { is: 'absent' } : { is: 'existing', revisions: [state.record.hash] };
    const edit = { name, content: validateConfiguration(name, content), precondition };
    await this.#change({ edit, editor: this.#options.follower, by });
  }

  /**
   * Removes every file whose configuration has this name, then the store's entry. Throws
   * DRV_CONFIGURATION_UNKNOWN, or DRV_CONFIGURATION_CHANGED.
   */
  async remove(name: string, { precondition, by }: WriteOptions = {}): Promise<void> {
    const hasFile = this.#stateOf(name).overrides?.is !== 'made';
    if (hasFile) this.#requireWritable(name);
    const editor = hasFile ? this.#editor : this.#options.follower;
    await this.#change({ edit: { name, content: undefined, precondition }, editor, by });
  }

  get #editor(): ConfigurationEditor {
    return this.#source.writes === 'file' ? this.#fileEditor : this.#options.follower;
  }

  /** Throws DRV_CONFIGURATION_OWNED when only files may change configurations. */
  #requireWritable(name: string): void {
    const { writes, origins, nodeId, directory } = this.#source;
    if (writes !== 'refuse') return;
    const { sourceFile: file = `${name}.json`, sourceNode: node = nodeId } =
      fileOf(this.#stateOf(name)) ?? {};
    const { commit } = origins.ofFile(file).origin;
    const at = commit === null || node !== nodeId ? '' : `, at commit ${commit}`;
    throw new DroverError(
      'DRV_CONFIGURATION_OWNED',
      `configuration "${name}" is changed in ${file} of node ${node} (${directory}${at}) and nowhere else: configurationWrites in config.json is "refuse"`,
    );
  }

  #stateOf(name: string): OverriddenState {
    const { configurations, overrides } = this.#options;
    return { record: configurations.get(name)?.value, overrides: overrides.get(name)?.value };
  }

  /**
   * Reads all files anew, on all masters, and believes what it finds, even an empty directory that took the
   * place of another. Also tries again to watch the directory. Resolves when readers see the changes. Throws
   * what the store throws.
   */
  async reload(isConfirmed = false): Promise<void> {
    await this.reloadHere(isConfirmed);
    await this.#options.others?.reload(isConfirmed);
  }

  /** As `reload`, but only for this master's files. */
  async reloadHere(isConfirmed: boolean): Promise<void> {
    await this.#whileStarted(() =>
      this.#queue.add(async () => {
        this.#isPolling = false;
        await this.#source.read({ isFinal: true, canBeReplaced: true });
        await this.#listen();
        await this.#follow(isConfirmed ? 'all' : undefined);
      }),
    );
  }

  /** Reads one file anew, without an effect on the records. Undefined: no such file. */
  inspect(file: string): Promise<Reading | undefined> {
    return new DirectoryReader(this.#source.directory, this.#options.clock).readFile(file);
  }

  /** The text of the broken file of a configuration of this node; undefined: none is broken. */
  textOfBroken(name: string): Promise<BrokenText | undefined> {
    return this.#source.textOfBroken(name, this.#options.configurations.get(name)?.value);
  }

  #change(change: Change): Promise<void> {
    return this.#whileStarted(() => {
      const { name } = change.edit;
      refuseFrozen(name, this.#options.timetables.get(name)?.value);
      return this.#turns.make(change);
    });
  }

  async #whileStarted(work: () => Promise<void>): Promise<void> {
    if (!this.#isStarted || this.#stopping.signal.aborted)
      throw new DroverError(
        'DRV_NOT_READY',
        'configurations cannot be changed while the node starts or stops',
      );
    try {
      await work();
    } catch (error) {
      // Look again soon, to repair what the failure left half-done.
      this.#hint(null);
      throw error;
    }
  }

  async #follow(confirmed?: Confirmed): Promise<void> {
    try {
      await this.#options.follower.follow(confirmed);
      this.#source.origins.forgetWriters();
    } finally {
      for (const listener of this.#listeners) listener();
    }
  }

  #hint(file: string | null): void {
    if (file === null || this.#hinted.size === MAX_HINTS) this.#isAllHinted = true;
    else this.#hinted.add(file);
    this.#schedule.hint();
  }

  /**
   * Looks at the hinted files. Looks at everything when there is no hint, there are too many, or a full look is due.
   */
  async #lookAtHints(): Promise<void> {
    const files = [...this.#hinted];
    const isNamed = files.length > 0 || this.#isUnsure;
    // Look at everything at a set time, too: hints for one file must not delay the other files for ever.
    const isAll = this.#isAllHinted || !isNamed || this.#options.clock.monotonic() >= this.#nextFullLookAt;
    this.#hinted.clear();
    this.#isAllHinted = false;
    if (!isNamed && this.#source.isClone && !(await this.#source.origins.hasMoved())) {
      this.#schedule.within(this.#nextLookMs());
      return;
    }
    if (isAll) this.#nextFullLookAt = this.#options.clock.monotonic() + SAFETY_LOOK_MS;
    await this.#look(() => (isAll ? this.#source.read({ isFinal: false }) : this.#source.readSome(files)));
  }

  /** Reads the files and lets the records follow. Never throws: it logs a failure, and a later look tries again. */
  async #look(read: () => Promise<void>): Promise<void> {
    if (this.#stopping.signal.aborted) return;
    try {
      await read();
      await this.#follow();
      this.#wasStored = true;
      this.#stored.ring();
    } catch (error) {
      this.#options.logger.debug({ err: error }, `configurations not stored: ${messageOf(error)}`);
    }
    await this.#listen();
    this.#schedule.within(this.#nextLookMs());
  }

  #nextLookMs(): number {
    if (this.#isUnsure) return SECOND_LOOK_MS;
    // Git may move to a commit that changes no file here, and no event tells.
    if (this.#source.isClone) return POLL_MS;
    // After the first success the controller repeats failed writes by itself, so no look is needed for them.
    const isTrouble = this.#isPolling || !this.#wasStored || this.#source.fault !== undefined;
    return isTrouble ? POLL_MS : SAFETY_LOOK_MS;
  }

  get #isUnsure(): boolean {
    return this.#source.suspects.length > 0;
  }

  async #listen(): Promise<void> {
    if (this.#isPolling || this.#stopping.signal.aborted) return;
    try {
      await this.#watch.follow(await findWatchPoints(this.#source));
    } catch (error) {
      this.#poll(error);
    }
  }

  #poll(error: unknown): void {
    if (this.#isPolling || this.#stopping.signal.aborted) return;
    this.#isPolling = true;
    this.#options.logger.warn(
      { err: error },
      `the configurations directory cannot be watched, so Drover looks every ${POLL_MS / 1000} s: ${watchRefusal(error)}`,
    );
    void this.#watch.stop();
    this.#schedule.within(POLL_MS);
  }
}
