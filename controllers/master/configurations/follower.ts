/**
 * Brings the configuration records in line with the files of one master. With several masters it also brings the files
 * in line with the records, and the leader's API writes the record first.
 */

import { faultOf } from '../../../src/configuration-files/directory.js';
import type { ConfigurationEditor } from '../../../src/configuration-files/file-writer.js';
import type { ParsedConfiguration } from '../../../src/configuration-files/parse.js';
import { type Precondition, requireRevision } from '../../../src/configuration-files/precondition.js';
import type { RecordEdit } from '../../../src/configuration-files/record-edits.js';
import type { FileConflict, RecordFollower } from '../../../src/configuration-files/record-follower.js';
import type { ConfigurationFileError, ConfigurationRecord } from '../../../src/model/configuration.js';
import type { ConfigurationOverrides } from '../../../src/model/configuration-overrides.js';
import { DroverError, messageOf } from '../../../src/model/errors.js';
import { publicMessage } from '../../../src/model/public-message.js';
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
        void this.#lookUp();
      },
    });
    this.#report = new FaultReport(options.logger, options.onFault);
  }

  async start(): Promise<void> {
    await this.#engine.start();
    const { configurations, overrides } = this.#options;
    const ends = [configurations.onChange(() => this.wake()), overrides.onChange(() => this.wake())];
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

  /** Never throws. */
  async #lookUp(): Promise<void> {
    if ((await this.#options.source.origins.order?.lookUp()) === true) this.wake();
  }

  conflicts(): readonly ConfigurationConflict[] {
    return this.#engine.conflicts().map(({ name, kind }) => {
      const file = this.#tree.owners.get(name) ?? `${name}.json`;
      return { name, file, kind, message: conflictText({ name, file, kind }) };
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
   * Writes the record, then the files of this master, unless Drover never writes them. The other masters' files follow by
   * themselves.
   */
  async write(name: string, parsed: ParsedConfiguration, precondition?: Precondition): Promise<void> {
    const { hash } = parsed;
    await this.#edit(name, precondition, (record, expectedRevision) => {
      if (record?.hash === hash && this.#options.overrides.get(name) === undefined) return undefined;
      const source = this.#options.source.origins.ofWriter(name, record?.sourceFile ?? `${name}.json`);
      const part = this.#tree.isInput ? 'override' : undefined;
      return { do: 'put', name, source, parsed, part, expectedRevision };
    });
    await this.#tree.withContent(parsed, () => this.follow());
  }

  async remove(name: string, precondition?: Precondition): Promise<void> {
    await this.#edit(name, precondition, (_record, expectedRevision) => {
      if (expectedRevision === 0) throw unknownConfiguration(name);
      const { origin, reason = null } = this.#options.source.origins.ofWriter(name, '');
      const by = this.#tree.isInput ? { by: origin.key, reason } : undefined;
      return { do: 'remove', name, by, expectedRevision };
    });
  }

  async #edit(
    name: string,
    precondition: Precondition | undefined,
    make: (record: ConfigurationRecord | undefined, revision: number) => RecordEdit | undefined,
  ): Promise<void> {
    const { configurations, store } = this.#options;
    const { door } = this.#tree;
    for (let tries = 1; ; tries++) {
      const record = configurations.get(name);
      if (precondition !== undefined) requireRevision(name, record?.value.hash, precondition);
      const revision = record?.revision ?? configurations.setAside.get(name)?.revision ?? 0;
      const edit = make(record?.value, revision);
      if (edit === undefined) return;
      try {
        await configurations.until(await door.write([edit]));
        return;
      } catch (error) {
        if (!DroverError.is(error, 'DRV_STORE_CONFLICT') || tries >= MOST_CONFLICTS) throw error;
        await untilShown(store, configurations);
        await untilShown(store, this.#options.overrides);
      }
    }
  }
}

function conflictText({ name, file, kind }: Omit<ConfigurationConflict, 'message'>): string {
  const keep = `to take what is here, run "drover apply -f ${file}"`;
  switch (kind) {
    case 'removed-there':
      return `conflict: "${name}" was removed elsewhere, and changed here since; ${keep}, else delete the file`;
    case 'both-changed':
      return `conflict: "${name}" was changed elsewhere, and here too; what is in force stays: ${keep}; to take what is in force, delete the file`;
    case 'unknown-base':
      return `conflict: "${name}" differs from what is in force, and this node does not know which of the two is newer: ${keep}; to take what is in force, delete the file`;
    default:
      return kind satisfies never;
  }
}
