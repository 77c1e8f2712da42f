/**
 * Brings the configuration records in line with the files of one master. With several masters it also brings the files
 * in line with the records, and the leader's API writes the record first.
 */

import { faultOf } from '../../../src/configuration-files/directory.js';
import type {
  ConfigurationEdit,
  ConfigurationEditor,
  Refusals,
} from '../../../src/configuration-files/file-writer.js';
import { requireRevision } from '../../../src/configuration-files/precondition.js';
import { inTransactions, type RecordEdit } from '../../../src/configuration-files/record-edits.js';
import type { FileConflict, RecordFollower } from '../../../src/configuration-files/record-follower.js';
import type { ConfigurationFileError } from '../../../src/model/configuration.js';
import type { ConfigurationOverrides } from '../../../src/model/configuration-overrides.js';
import { DroverError, messageOf } from '../../../src/model/errors.js';
import { publicMessage } from '../../../src/model/public-message.js';
import type { Timetable } from '../../../src/model/schedule.js';
import { unknownConfiguration } from '../../../src/model/unknown.js';
import type { MirrorReader } from '../../../src/store/mirror.js';
import { untilShown } from '../../../src/store/modify.js';
import type { Confirmed, ViewConflict } from '../../../src/views/view.js';
import { DirectoryEngine, type DirectoryEngineOptions } from '../directories/reconciler.js';
import { FaultReport, faultsOf, type OnFileFault } from './faults.js';
import { ConfigurationTree, type ConfigurationTreeOptions } from './tree.js';

/** The most tries to write. A try fails only when another write came first. */
const MOST_CONFLICTS = 10;

/** A file that differs from the record, and waits for a person. */
type ConfigurationConflict = ViewConflict & FileConflict;

interface ConfigurationFollowerOptions
  extends ConfigurationTreeOptions,
    Pick<DirectoryEngineOptions, 'bases' | 'clock' | 'logger' | 'metrics' | 'random'> {
  readonly overrides: MirrorReader<ConfigurationOverrides>;
  readonly timetables: MirrorReader<Timetable>;
  /** Called when `faults` may answer something else. */
  readonly onFaults?: () => void;
  readonly onFault?: OnFileFault | undefined;
}

export class ConfigurationFollower implements RecordFollower, ConfigurationEditor {
  readonly #options: ConfigurationFollowerOptions;
  readonly #tree: ConfigurationTree;
  readonly #engine: DirectoryEngine;
  readonly #report: FaultReport;
  #unsubscribe: () => void = () => undefined;

  constructor(options: ConfigurationFollowerOptions) {
    this.#options = options;
    this.#tree = new ConfigurationTree(options);
    this.#engine = new DirectoryEngine({
      ...options,
      name: 'configurations',
      tree: this.#tree,
      isAlone: this.#tree.isAlone,
      doRemovalsWait: true,
      onRound: () => {
        this.#report.tell(this.faults());
        options.onFaults?.();
        void options.source.origins.order?.lookUp().then((isKnown) => isKnown && this.wake());
      },
    });
    this.#report = new FaultReport(options.logger, options.onFault);
  }

  async start(): Promise<void> {
    await this.#engine.start();
    const { configurations, overrides, timetables } = this.#options;
    const ends = [configurations, overrides, timetables].map((one) => one.onChange(() => this.wake()));
    this.#unsubscribe = () => {
      for (const end of ends) end();
    };
  }

  stop(): Promise<void> {
    this.#unsubscribe();
    return this.#engine.stop();
  }

  /** Called when another master leads: a write that failed may succeed now. */
  wake(): void {
    this.#engine.wake();
  }

  /** With several masters, an error of a single file is logged, not thrown. */
  async follow(confirmed?: Confirmed): Promise<void> {
    try {
      await this.#engine.follow(confirmed);
    } catch (error) {
      const isOfStore = error instanceof DroverError && error.code.startsWith('DRV_STORE_');
      if (this.#tree.isAlone || isOfStore) throw error;
      this.#options.logger.debug({ err: error }, `a file does not follow: ${messageOf(error)}`);
    }
  }

  conflicts(): readonly ConfigurationConflict[] {
    const isClone = this.#options.source.origins.order !== undefined;
    return this.#engine.conflicts().map(({ name, kind }) => {
      const file = this.#tree.owners.get(name) ?? `${name}.json`;
      return { name, file, kind, message: conflictText({ name, file, kind }, isClone) };
    });
  }

  waiting(): readonly string[] {
    return this.#engine.waiting();
  }

  faults(): readonly ConfigurationFileError[] {
    const { source } = this.#options;
    // With several masters a refused write is no fault here: the leader takes writes, and there may be none for a
    // while.
    const refusal = this.#tree.isAlone ? this.#engine.refusal : undefined;
    const faults = faultsOf({
      files: source.files ?? new Map(),
      suspects: new Set(source.suspects),
      directoryFault: source.fault,
      owners: this.#tree.owners,
      waiting: this.waiting(),
      refusal: refusal === undefined ? undefined : publicMessage(refusal),
      told: this.#report.told,
    });
    const inConflict = this.conflicts().map(({ name, file, message }) => ({
      ...faultOf(file, message),
      name,
    }));
    const named = new Set(inConflict.map(({ file }) => file));
    return [...faults.filter(({ file }) => !named.has(file)), ...inConflict];
  }

  /**
   * Writes the records, then the files of this master, unless Drover never writes them. The other masters' files follow
   * by themselves.
   */
  async edit(edits: readonly ConfigurationEdit[]): Promise<Refusals> {
    const refusals = new Map<string, unknown>();
    await this.#write(edits, refusals);
    if (this.#tree.isInput) return refusals;
    const made = edits.filter(({ name }) => !refusals.has(name));
    const contents = made.flatMap(({ content }) => content ?? []);
    await this.#tree
      .withContents(contents, () => this.follow())
      .catch((error: unknown) => {
        for (const { name } of made) refusals.set(name, error);
      });
    return refusals;
  }

  /** Writes records with few transactions. A transaction that a single edit spoils is made again edit by edit. */
  async #write(
    edits: readonly ConfigurationEdit[],
    refusals: Map<string, unknown>,
    tries = 1,
  ): Promise<void> {
    const { configurations, overrides, store } = this.#options;
    const records: RecordEdit[] = [];
    for (const edit of edits)
      try {
        records.push(...this.#recordEditsOf(edit));
      } catch (error) {
        refusals.set(edit.name, error);
      }
    for (const some of inTransactions(records))
      try {
        await configurations.until(await this.#tree.door.write(some));
      } catch (error) {
        const isConflict = DroverError.is(error, 'DRV_STORE_CONFLICT') && tries < MOST_CONFLICTS;
        // A leader of another version may find one content invalid.
        if (isConflict || (DroverError.is(error, 'DRV_CONFIGURATION_INVALID') && some.length > 1)) {
          for (const mirror of [configurations, overrides])
            await untilShown(store, mirror).catch(() => undefined);
          const names = new Set(some.map(({ name }) => name));
          for (const edit of edits) if (names.has(edit.name)) await this.#write([edit], refusals, tries + 1);
        } else for (const { name } of some) refusals.set(name, error);
      }
  }

  /** None: the record is as it should be. Throws why the edit is refused. */
  #recordEditsOf({ name, content, precondition }: ConfigurationEdit): readonly RecordEdit[] {
    const { configurations, overrides, source } = this.#options;
    const { origins } = source;
    const record = configurations.get(name);
    if (precondition !== undefined) requireRevision(name, record?.value.hash, precondition);
    const expectedRevision = record?.revision ?? configurations.setAside.get(name)?.revision ?? 0;
    const isOverride = this.#tree.isInput;
    if (content === undefined) {
      if (expectedRevision === 0) throw unknownConfiguration(name);
      const { origin, reason = null } = origins.ofWriter(name, '');
      const by = isOverride ? { by: origin.key, reason } : undefined;
      return [{ do: 'remove', name, by, expectedRevision }];
    }
    if (record?.value.hash === content.hash && overrides.get(name) === undefined) return [];
    const written = origins.ofWriter(name, record?.value.sourceFile ?? `${name}.json`);
    const part = isOverride ? 'override' : undefined;
    return [{ do: 'put', name, source: written, parsed: content, part, expectedRevision }];
  }
}

function conflictText(
  { name, file, kind }: Omit<ConfigurationConflict, 'message'>,
  isClone: boolean,
): string {
  const take = `to take what is here, run "drover apply -f ${file}"`;
  const leave = isClone
    ? 'to take what is in force, merge its commits and pull them here, or take the file back with git'
    : 'to take what is in force, delete the file';
  switch (kind) {
    case 'removed-there':
      return `conflict: "${name}" was removed elsewhere, and changed here since; ${take}; ${leave}`;
    case 'both-changed':
      return `conflict: "${name}" was changed elsewhere, and here too; what is in force stays: ${take}; ${leave}`;
    case 'unknown-base':
      return `conflict: "${name}" differs from what is in force, and this node does not know which of the two is newer: ${take}; ${leave}`;
    default:
      return kind satisfies never;
  }
}
