/** The configurations controller: brings the records up to what one node's files say. Key: that node's id. */

import { FaultReport } from '../../../src/configuration-files/faults/fault-report.js';
import { historyOperations } from '../../../src/configuration-files/history/history-operations.js';
import type { ConfigurationSource } from '../../../src/configuration-files/source.js';
import type { Clock } from '../../../src/loop/clock.js';
import type { Reconciler } from '../../../src/loop/reconciler.js';
import {
  type ConfigurationFileError,
  type ConfigurationRecord,
  isBroughtBy,
} from '../../../src/model/configuration.js';
import type { ConfigurationHistory } from '../../../src/model/configuration-history.js';
import { DroverError } from '../../../src/model/errors.js';
import { publicMessage } from '../../../src/model/public-message.js';
import type { RolloutRecord } from '../../../src/model/rollout.js';
import { leftOfConfiguration } from '../../../src/state/left-of-record.js';
import { configurationKey, revisionKey } from '../../../src/store/keys.js';
import type { MirrorReader } from '../../../src/store/mirror.js';
import { untilShown } from '../../../src/store/modify.js';
import type { Operation, Store } from '../../../src/store/store.js';
import type { Logger } from '../../../src/telemetry/logger.js';
import { type ConfigurationFacts, type ConfigurationStep, decide, plan, type RecordChange } from './plan.js';

export interface ConfigurationsOptions {
  readonly source: ConfigurationSource;
  readonly configurations: MirrorReader<ConfigurationRecord>;
  readonly histories: MirrorReader<ConfigurationHistory>;
  /** They say how a content ends that another one replaces. */
  readonly rollouts: Pick<MirrorReader<RolloutRecord>, 'get'>;
  readonly store: Store;
  readonly clock: Pick<Clock, 'now'>;
  readonly logger: Logger;
}

export class Configurations implements Reconciler<ConfigurationFacts, ConfigurationStep> {
  readonly name = 'configurations';
  readonly plan = plan;
  readonly #options: ConfigurationsOptions;
  readonly #report: FaultReport;
  #refusal: unknown;

  constructor(options: ConfigurationsOptions) {
    this.#options = options;
    this.#report = new FaultReport(options.logger);
  }

  observe(): ConfigurationFacts {
    const { source, configurations } = this.#options;
    return {
      nodeId: source.nodeId,
      isRead: source.files !== undefined,
      files: source.files ?? new Map(),
      suspects: new Set(source.suspects),
      directoryFault: source.fault,
      records: new Map(configurations.entries()),
      setAside: new Map(
        [...configurations.setAside].map(([name, { value, revision }]) => [
          name,
          { revision, file: fileOf(value, source.nodeId) },
        ]),
      ),
      confirmed: new Set(
        [...configurations.entries(), ...configurations.setAside]
          .map(([name]) => name)
          .filter((name) => source.isConfirmed(name)),
      ),
      refusal: this.#refusal === undefined ? undefined : publicMessage(this.#refusal),
      told: this.#report.told,
    };
  }

  async perform(step: ConfigurationStep): Promise<void> {
    switch (step.do) {
      case 'report':
        return this.#report.tell(step.faults);
      case 'write':
        return this.#write(step.changes);
      case 'forget-refusal':
        this.#refusal = undefined;
        return;
      default:
        return step satisfies never;
    }
  }

  /** What the store threw at the last write; undefined: it accepted it, or nothing is left to write. */
  get refusal(): unknown {
    return this.#refusal;
  }

  /** True when the records say what the files say. */
  isSettled(): boolean {
    return decide(this.observe()).changes.length === 0;
  }

  /** Files that are not in force as they stand. */
  faults(): readonly ConfigurationFileError[] {
    return decide(this.observe()).faults;
  }

  async #write(changes: readonly RecordChange[]): Promise<void> {
    const { store, configurations, histories, clock, logger } = this.#options;
    const at = clock.now();
    try {
      const written = await store.transact(changes.flatMap((change) => this.#operationsOf(change, at)));
      await Promise.all([configurations.until(written), histories.until(written)]);
      this.#refusal = undefined;
    } catch (error) {
      const isConflict = DroverError.is(error, 'DRV_STORE_CONFLICT');
      this.#refusal = isConflict ? undefined : error;
      // The next round decides with the record of the writer that was faster.
      if (isConflict) await Promise.all([untilShown(store, configurations), untilShown(store, histories)]);
      throw error;
    }
    for (const change of changes) logger.info({ configuration: change.name }, sentenceOf(change));
  }

  /** The record, its revision and its history change together. */
  #operationsOf(change: RecordChange, at: number): Operation[] {
    const operations = operationsOf(change);
    const { name } = change;
    if (change.do === 'remove')
      return [...operations, ...historyOperations(this.#options, { name, content: undefined, at })];
    if (change.do === 'withhold' || !change.isNewContent) return operations;
    const { file, nodeId: node, parsed } = change;
    const source = this.#options.source.originOf(name, file);
    const content = { revision: parsed.hash, source, node };
    return [...operations, ...historyOperations(this.#options, { name, content, at })];
  }
}

/** The file of a record that is set aside, where this source brought it. */
function fileOf(value: unknown, nodeId: string): string | null {
  const left = leftOfConfiguration(value);
  return left !== undefined && isBroughtBy(left, nodeId) ? left.sourceFile : null;
}

function operationsOf(change: RecordChange): Operation[] {
  const key = configurationKey(change.name);
  const { expectedRevision } = change;
  if (change.do === 'remove') return [{ do: 'remove', key, expectedRevision }];
  if (change.do === 'withhold')
    return [{ do: 'update', key, value: { ...change.record, removalWaits: true }, expectedRevision }];
  const { configuration, hash } = change.parsed;
  const value: ConfigurationRecord = {
    configuration,
    sourceFile: change.file,
    sourceNode: change.nodeId,
    hash,
  };
  const record: Operation =
    expectedRevision === 0 ? { do: 'create', key, value } : { do: 'update', key, value, expectedRevision };
  return change.isNewContent
    ? [record, { do: 'put', key: revisionKey(hash), value: configuration }]
    : [record];
}

function sentenceOf(change: RecordChange): string {
  const { name, file } = change;
  if (change.do === 'remove') return `configuration ${name} removed: ${file} is gone or has another name now`;
  if (change.do === 'withhold')
    return `configuration ${name} stays in force although ${file} is gone or has another name now: most others went with it`;
  const why = change.isNewContent
    ? `from ${file}`
    : `same content, now from ${file} of node ${change.nodeId}`;
  return `configuration ${name} ${change.expectedRevision === 0 ? 'added' : 'changed'}: ${why}`;
}
