/**
 * Records the ends of runs that nobody asked for, as reports name them. A node names its last ends in every report, so
 * no lost report loses one; an end that has a record is not written again.
 */
import { KeyedTurns } from '../../loop/keyed-turns.js';
import { DroverError } from '../../model/errors.js';
import {
  causeOf,
  EXITS_KEPT_MS,
  type ExitRecord,
  MOST_EXIT_LINES_BYTES,
  MOST_EXIT_RECORDS,
} from '../../model/exit-record.js';
import type { InstanceRecord } from '../../model/instance.js';
import { exitKey } from '../../store/keys.js';
import type { MirrorReader } from '../../store/mirror.js';
import { create, type Store } from '../../store/store.js';
import type { Logger } from '../../telemetry/logger.js';
import type { Metrics } from '../../telemetry/metrics.js';
import type { Report } from '../protocol/messages.js';

export interface ExitIntakeOptions {
  readonly store: Store;
  readonly exits: MirrorReader<ExitRecord>;
  /** The last lines of the run of an instance that ended at this time; empty when its node does not tell. */
  readonly lastLinesOf: (id: string, at: number) => Promise<readonly string[]>;
  readonly metrics: Metrics;
  readonly logger: Logger;
  readonly now: () => number;
}

type End = NonNullable<Report['ends']>[number];

export class ExitIntake {
  readonly #options: ExitIntakeOptions;
  /** The questions to nodes: each node has one at a time. */
  readonly #questions = new KeyedTurns();

  constructor(options: ExitIntakeOptions) {
    this.#options = options;
  }

  /**
   * Resolves when each new end of the report is durable. The last lines follow later: the node is asked for them.
   * `before`: the record before the report.
   */
  async take(node: string, { id, ends = [] }: Report, before: InstanceRecord): Promise<void> {
    const { exits } = this.#options;
    const news = ends.filter((end) => exits.get(idOf(id, end)) === undefined && this.#isKept(end));
    const newest = Math.max(...news.map(({ at }) => at));
    await Promise.all(
      news.map(async (end) => {
        // Earlier ends are told late: the players of the record belong to the newest one.
        const players = end.at === newest && before.status.pid !== null ? before.status.players : null;
        const record = recordOf(end, before, { node, players });
        if (await this.#create(idOf(id, end), record))
          void this.#questions.run(node, () => this.#addLines(idOf(id, end), record));
      }),
    );
  }

  /** False for an end that would be swept away at once, and that the node still names. */
  #isKept({ at }: End): boolean {
    const { exits, now } = this.#options;
    if (at <= now() - EXITS_KEPT_MS) return false;
    const times = [...exits.entries()].map(([, { value }]) => value.at);
    return times.length < MOST_EXIT_RECORDS || at > Math.min(...times);
  }

  /** False: another report has brought the same end. */
  async #create(id: string, record: ExitRecord): Promise<boolean> {
    const { store, exits, metrics } = this.#options;
    try {
      await exits.until(await create(store, exitKey(id), record));
    } catch (error) {
      if (DroverError.is(error, 'DRV_STORE_CONFLICT')) return false;
      throw error;
    }
    metrics.exits.inc({ configuration: record.configuration, cause: record.cause });
    return true;
  }

  async #addLines(id: string, record: ExitRecord): Promise<void> {
    const { store, exits, lastLinesOf, logger } = this.#options;
    try {
      const lines = lastWithin(await lastLinesOf(record.instance, record.at), MOST_EXIT_LINES_BYTES);
      const known = exits.get(id);
      if (lines.length === 0 || known === undefined) return;
      const value: ExitRecord = { ...known.value, lines };
      await store.transact([{ do: 'update', key: exitKey(id), value, expectedRevision: known.revision }]);
    } catch (error) {
      logger.debug({ err: error, instance: record.instance }, 'the last lines of an end are not kept');
    }
  }
}

function idOf(instance: string, { at }: End): string {
  return `${instance}-${at}`;
}

function recordOf(
  end: End,
  { id: instance, configurationName: configuration, revision }: InstanceRecord,
  of: Pick<ExitRecord, 'node' | 'players'>,
): ExitRecord {
  const { run, at, begunAt = null, code, signal, cause: detail = null, mostMemoryBytes = null } = end;
  const cause = causeOf(end);
  const how = { run, at, begunAt, code, signal, cause, detail, mostMemoryBytes };
  return { instance, configuration, revision, ...of, ...how, lines: null };
}

/** The last lines that fit into so many bytes. */
function lastWithin(lines: readonly string[], mostBytes: number): string[] {
  let left = mostBytes;
  const from = lines.findLastIndex((line) => {
    left -= Buffer.byteLength(line) + 1;
    return left < 0;
  });
  return lines.slice(from + 1);
}
