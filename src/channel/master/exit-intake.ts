/**
 * Records the ends of runs that nobody asked for, as reports name them. A node names its last ends in every report, so
 * no lost report loses one; an end that has a record is not written again.
 */
import { KeyedTurns } from '../../loop/keyed-turns.js';
import { DroverError } from '../../model/errors.js';
import { type ExitRecord, isOver, kindOf, MOST_EXIT_LINES_BYTES } from '../../model/exit-record.js';
import type { InstanceRecord } from '../../model/instance.js';
import type { StateRecords } from '../../state/master-state.js';
import { exitKey } from '../../store/keys.js';
import { create, update } from '../../store/store.js';
import type { Metrics } from '../../telemetry/metrics.js';
import type { Report } from '../protocol/messages.js';

interface ExitIntakeOptions extends Pick<StateRecords, 'store' | 'exits'> {
  /** The last lines of the run that ended at this time. Never throws: empty when the node does not tell. */
  readonly lastLinesOf: (id: string, at: number) => Promise<readonly string[]>;
  readonly metrics: Metrics;
  readonly now: () => number;
}

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
    const { exits, now } = this.#options;
    const { configurationName: configuration, revision, status } = before;
    const took = ends.map(async (end, older) => {
      const key = `${id}-${end.at}`;
      // Nodes still name ends whose records were swept away.
      if (exits.get(key) !== undefined || isOver(exits.entries(), end.at, now())) return;
      // Earlier ends are told late: the players of the record belong to the newest one.
      const players = older === 0 && status.pid !== null ? status.players : null;
      // A node's clock that is ahead must not keep its ends for longer than others.
      const at = Math.min(end.at, now());
      const record = { ...end, at, instance: id, configuration, revision, node, players, lines: null };
      if (await this.#create(key, record))
        void this.#questions.run(node, () => this.#addLines(key, id, end.at));
    });
    await Promise.all(took);
  }

  /** False: another report has brought the same end. */
  async #create(key: string, record: ExitRecord): Promise<boolean> {
    const { store, exits, metrics } = this.#options;
    try {
      await exits.until(await create(store, exitKey(key), record));
    } catch (error) {
      if (DroverError.is(error, 'DRV_STORE_CONFLICT')) return false;
      throw error;
    }
    metrics.exits.inc({ configuration: record.configuration, cause: kindOf(record) });
    return true;
  }

  async #addLines(key: string, id: string, at: number): Promise<void> {
    const { store, exits, lastLinesOf } = this.#options;
    if (exits.get(key) === undefined) return;
    const lines = lastWithin(await lastLinesOf(id, at), MOST_EXIT_LINES_BYTES);
    const known = exits.get(key);
    if (lines.length === 0 || known === undefined) return;
    // Where the store does not take them, the end stays without its lines.
    await update(store, exitKey(key), { ...known.value, lines }, known.revision).catch(() => undefined);
  }
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
