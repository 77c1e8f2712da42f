/**
 * One way from the files to the store: read the directory, settle what it says, and bring the store up to it. Keeps
 * no time and listens to nothing; its caller runs one call at a time.
 */
import { basename } from 'node:path';
import type { Clock } from '../loop/clock.js';
import type { ConfigurationFileError } from '../model/configuration.js';
import { DroverError } from '../model/errors.js';
import { publicMessage } from '../model/public-message.js';
import type { Store } from '../store/store.js';
import type { Logger } from '../telemetry/logger.js';
import { DirectoryReader, DirectoryUnusable, type Reading } from './directory.js';
import { ErrorReport } from './error-report.js';
import { HeldConfigurations } from './held-configurations.js';
import { type HeldConfiguration, planConfigurations, type Step } from './plan.js';
import { SettledFiles } from './settled-files.js';

const MAX_CONFLICTS = 10;

export interface ConfigurationSyncOptions {
  readonly directory: string;
  readonly store: Store;
  readonly logger: Logger;
  readonly clock: Clock;
}

export interface ReadOptions {
  /** Believe what is broken or gone without a second look. */
  readonly isFinal: boolean;
  /** Believe an empty directory that took the place of another. */
  readonly canBeReplaced?: boolean;
}

export class ConfigurationSync {
  readonly #directoryName: string;
  readonly #logger: Logger;
  readonly #reader: DirectoryReader;
  readonly #held: HeldConfigurations;
  readonly #settled = new SettledFiles();
  readonly #report: ErrorReport;
  #links: readonly string[] = [];
  #hasRead = false;
  #fileErrors: readonly ConfigurationFileError[] = [];
  #directoryError: string | undefined;
  #storeError: string | undefined;

  constructor({ directory, store, logger, clock }: ConfigurationSyncOptions) {
    this.#directoryName = basename(directory);
    this.#logger = logger;
    this.#reader = new DirectoryReader({ directory, clock });
    this.#held = new HeldConfigurations(store);
    this.#report = new ErrorReport(logger);
  }

  /** What the store holds, by name. */
  get held(): ReadonlyMap<string, HeldConfiguration> {
    return this.#held.held;
  }

  /** The store revision of the last change made here; 0: none since `load`. */
  get revision(): number {
    return this.#held.revision;
  }

  /** What the files say, by file name. */
  get files(): ReadonlyMap<string, Reading> {
    return this.#settled.files;
  }

  get links(): readonly string[] {
    return this.#links;
  }

  /** True while another look is needed soon. */
  get isUnsure(): boolean {
    return this.#settled.isUnsure;
  }

  /** Why the directory cannot be used, or undefined. */
  get directoryError(): string | undefined {
    return this.#directoryError;
  }

  errors(): readonly ConfigurationFileError[] {
    return this.#report.list();
  }

  /** Once, before anything else. Throws what the store throws. */
  async load(): Promise<void> {
    await this.#held.load();
  }

  /** Reads the whole directory. One that cannot be used is an error of the report, and all stays as it was. */
  async read({ isFinal, canBeReplaced = false }: ReadOptions): Promise<void> {
    try {
      const reading = await this.#reader.read(canBeReplaced);
      this.#settled.takeAll(reading.files, isFinal);
      this.#links = reading.links;
      this.#hasRead = true;
      this.#directoryError = undefined;
      this.#tellSuspects();
    } catch (error) {
      if (!(error instanceof DirectoryUnusable)) throw error;
      this.#directoryError = error.message;
    }
  }

  /** Reads these files, and those in doubt, if that is enough; else the whole directory. */
  async readSome(files: readonly string[]): Promise<void> {
    const isPossible = this.#hasRead && this.#directoryError === undefined;
    const names = new Set([...files, ...this.#settled.suspects]);
    const readings = isPossible ? await this.#reader.readSome(names) : undefined;
    if (readings === undefined) return this.read({ isFinal: false });
    this.#settled.take(readings, false);
    this.#tellSuspects();
  }

  /** Makes sure that single files may be read and written: the directory is the one that was read. */
  async readIfReplaced(): Promise<void> {
    if (this.#directoryError !== undefined || !(await this.#reader.isSameDirectory()))
      await this.read({ isFinal: false });
  }

  /** Reads one file anew, and believes it. */
  async readFile(file: string): Promise<Reading | undefined> {
    const reading = await this.#reader.readFile(file);
    this.#settled.set(file, reading);
    return reading;
  }

  /**
   * Brings the store up to what the files say and resolves when that is durable. Throws what the store throws: then
   * nothing was written and it may be called again.
   */
  async commit(): Promise<void> {
    try {
      for (let conflicts = 0; !(await this.#tryCommit(conflicts)); conflicts++) await this.#held.load();
      this.#storeError = undefined;
    } catch (error) {
      this.#storeError = publicMessage(error);
      throw error;
    } finally {
      this.#showErrors();
    }
  }

  /** False on a conflict. */
  async #tryCommit(conflicts: number): Promise<boolean> {
    const { steps, errors } = this.#plan();
    this.#fileErrors = errors;
    if (steps.length === 0) return true;
    try {
      await this.#held.apply(steps);
    } catch (error) {
      if (DroverError.is(error, 'DRV_STORE_CONFLICT') && conflicts < MAX_CONFLICTS) return false;
      throw error;
    }
    for (const step of steps) this.#logger.info({ configuration: step.name }, sentenceOf(step));
    return true;
  }

  // Before the first reading the files say nothing at all, which is not to say that there are none.
  #plan(): ReturnType<typeof planConfigurations> {
    if (!this.#hasRead) return { steps: [], errors: [] };
    return planConfigurations({
      files: this.#settled.files,
      isSuspect: (file) => this.#settled.isSuspect(file),
      held: this.#held.held,
    });
  }

  #tellSuspects(): void {
    const { suspects } = this.#settled;
    if (suspects.length > 0) this.#logger.debug({ suspects }, 'files look broken or gone; looking again');
  }

  #showErrors(): void {
    const errors = [...this.#fileErrors];
    const whole = { line: null, column: null, field: null };
    if (this.#directoryError !== undefined)
      errors.push({ file: this.#directoryName, ...whole, message: this.#directoryError });
    if (this.#storeError !== undefined)
      errors.push({ file: '*.json', ...whole, message: `not stored yet, trying again: ${this.#storeError}` });
    this.#report.show(errors, this.#settled.isUnsure);
    this.#report.showUnknownFields(this.#settled.files);
  }
}

function sentenceOf(step: Step): string {
  if (step.do === 'remove') {
    const file = step.file ?? 'a file that is not known';
    return `configuration ${step.name} removed: ${file} is gone or has another name now`;
  }
  const why = step.isNewContent ? `from ${step.file}` : `same content, now from ${step.file}`;
  return `configuration ${step.name} ${step.expectedRevision === 0 ? 'added' : 'changed'}: ${why}`;
}
