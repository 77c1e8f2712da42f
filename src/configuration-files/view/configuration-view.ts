/**
 * Lets the configuration files of one of several masters and the shared records follow each other, and writes for the
 * API of the leader. A record is written first; the files of all masters follow it.
 */
import type { Clock } from '../../loop/clock.js';
import type { Part } from '../../loop/lifecycle.js';
import type { ConfigurationFileError, ConfigurationRecord } from '../../model/configuration.js';
import { DroverError, messageOf } from '../../model/errors.js';
import { unknownConfiguration } from '../../model/unknown.js';
import type { MirrorReader } from '../../store/mirror.js';
import { untilShown } from '../../store/modify.js';
import type { Store } from '../../store/store.js';
import type { Logger } from '../../telemetry/logger.js';
import { Bases } from '../../views/bases.js';
import { DirectoryView } from '../../views/directory-view.js';
import type { ConflictKind } from '../../views/plan.js';
import type { RecordDoor } from '../../views/record-door.js';
import { FaultReport } from '../faults/fault-report.js';
import { faultsOf } from '../faults/faults.js';
import type { ConfigurationEditor, NewContent } from '../file-writer.js';
import { type Precondition, requireRevision } from '../precondition.js';
import type { RecordFollower } from '../record-follower.js';
import type { DirectorySource } from '../source.js';
import { ConfigurationTree } from './configuration-tree.js';
import type { RecordEdit } from './record-edits.js';

/** Each try loses to a write that succeeded. */
const MOST_CONFLICTS = 10;

/** A file that differs from the record, and waits for a person. */
export interface ConfigurationConflict {
  readonly name: string;
  readonly file: string;
  readonly kind: ConflictKind;
  /** What is wrong, and what to do. */
  readonly message: string;
}

export interface ConfigurationViewOptions {
  readonly source: DirectorySource;
  readonly configurations: MirrorReader<ConfigurationRecord>;
  readonly store: Store;
  readonly door: RecordDoor<RecordEdit>;
  /** Absolute path of the file of bases. */
  readonly basesFile: string;
  /** Called when `faults` may answer something else. */
  readonly onFaults: () => void;
  readonly clock: Clock;
  readonly random: () => number;
  readonly logger: Logger;
}

export class ConfigurationView implements RecordFollower, ConfigurationEditor, Part {
  readonly #options: ConfigurationViewOptions;
  readonly #tree: ConfigurationTree;
  readonly #view: DirectoryView;
  readonly #report: FaultReport;
  #unsubscribe: () => void = () => undefined;

  constructor(options: ConfigurationViewOptions) {
    const { basesFile, store, clock, random, logger } = options;
    this.#options = options;
    this.#tree = new ConfigurationTree(options);
    const bases = new Bases({ path: basesFile, store, logger });
    this.#view = new DirectoryView({
      name: 'configurations',
      tree: this.#tree,
      bases,
      clock,
      random,
      logger,
    });
    this.#report = new FaultReport(logger);
  }

  async start(): Promise<void> {
    await this.#view.start();
    this.#unsubscribe = this.#options.configurations.onChange(() => {
      this.#view.wake();
      this.#options.onFaults();
    });
  }

  stop(): Promise<void> {
    this.#unsubscribe();
    return this.#view.stop();
  }

  /** Another master leads: what failed may succeed. */
  wake(): void {
    this.#view.wake();
  }

  /** Resolves when both sides agree but for conflicts, or what hinders a file is logged. Throws what the store throws. */
  async follow(): Promise<void> {
    try {
      await this.#view.follow();
    } catch (error) {
      if (error instanceof DroverError && error.code.startsWith('DRV_STORE_')) throw error;
      this.#options.logger.debug({ err: error }, `a file does not follow: ${messageOf(error)}`);
    } finally {
      this.#report.tell(this.faults());
      this.#options.onFaults();
    }
  }

  conflicts(): readonly ConfigurationConflict[] {
    const owners = this.#tree.owners();
    return this.#view.conflicts().map(({ name, kind }) => {
      const file = owners.get(name) ?? `${name}.json`;
      return { name, file, kind, message: conflictText({ name, file, kind }) };
    });
  }

  waiting(): readonly string[] {
    return this.#view.waiting();
  }

  faults(): readonly ConfigurationFileError[] {
    const { source } = this.#options;
    const faults = faultsOf({
      files: source.files ?? new Map(),
      suspects: new Set(source.suspects),
      directoryFault: source.fault,
      owners: this.#tree.owners(),
      waiting: this.waiting(),
      isStored: true,
      refusal: undefined,
      told: this.#report.told,
    });
    const inConflict = this.conflicts().map(({ name, file, message }) => ({
      name,
      file,
      line: null,
      column: null,
      field: null,
      message,
    }));
    const named = new Set(inConflict.map(({ file }) => file));
    return [...faults.filter(({ file }) => !named.has(file)), ...inConflict];
  }

  /** Writes the record, then the files of this master. The others' follow. */
  async write(name: string, { text, parsed }: NewContent, precondition?: Precondition): Promise<void> {
    const { hash } = parsed;
    await this.#edit(name, precondition, (record, expectedRevision) => {
      if (record?.hash === hash) return undefined;
      const source = this.#options.source.origins.ofWriter(name, record?.sourceFile ?? `${name}.json`);
      return { do: 'put', name, source, parsed, expectedRevision };
    });
    await this.#tree.withText({ name, hash, text }, () => this.follow());
  }

  async remove(name: string, precondition?: Precondition): Promise<void> {
    await this.#edit(name, precondition, (_record, expectedRevision) => {
      if (expectedRevision === 0) throw unknownConfiguration(name);
      return { do: 'remove', name, expectedRevision };
    });
  }

  async #edit(
    name: string,
    precondition: Precondition | undefined,
    make: (record: ConfigurationRecord | undefined, revision: number) => RecordEdit | undefined,
  ): Promise<void> {
    const { configurations, store, door } = this.#options;
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
