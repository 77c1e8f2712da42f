/**
 * The node's memory of what its instances used over the last day: one line a minute for all of them, in a file of each
 * hour. So the charts outlive the daemon and the machine, and a configuration keeps the past of its removed instances.
 */
import { appendFile, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import PQueue from 'p-queue';
import { z } from 'zod';
import { ignoreMissing } from '../files/system-error.js';
import { Rounds } from '../loop/rounds.js';
import { attempt } from '../model/plain/attempt.js';
import {
  DAY_MS,
  isMinuteSample,
  MINUTE_MS,
  type MinuteSample,
  UsageFold,
  type UsageQuestion,
  type UsageSeries,
} from '../model/run/usage-series.js';
import type { Ambient } from '../telemetry/ambient.js';

const HOUR_MS = 60 * MINUTE_MS;
/** How long after the full minute a sample is taken, so that no sample falls into the minute before. */
const LAG_MS = 500;
const noteSchema = z.tuple([z.number()], z.unknown());

/** An instance that lives, or that ended unasked and is started again, with what it uses now. */
export interface UsedNow {
  readonly id: string;
  readonly configuration: string;
  readonly run: number;
  /** Null: not measured. */
  readonly cpuPercent: number | null;
  readonly memoryBytes: number | null;
}

interface UsageDayOptions extends Ambient {
  /** A private directory, which is made. */
  readonly directory: string;
  readonly instances: () => Iterable<UsedNow>;
  /** The players of instances, by id. Rejects when the master does not say. */
  readonly players: (ids: readonly string[]) => Promise<ReadonlyMap<string, number>>;
}

export class UsageDay extends Rounds {
  readonly #options: UsageDayOptions;
  readonly #turns = new PQueue({ concurrency: 1 });

  constructor(options: UsageDayOptions) {
    const { clock } = options;
    super(clock, () => MINUTE_MS - (clock.now() % MINUTE_MS) + LAG_MS);
    this.#options = options;
  }

  /** Answers one question after the other, so that many at once do not hold up the node. */
  read(question: UsageQuestion, signal: AbortSignal): Promise<UsageSeries[]> {
    return this.#turns.add(() => this.#read(question, signal));
  }

  async #read(question: UsageQuestion, signal: AbortSignal): Promise<UsageSeries[]> {
    signal.throwIfAborted();
    const now = this.#options.clock.now();
    const fold = new UsageFold(question, now);
    const oldest = Math.max(now - DAY_MS, now - question.everyMs * question.points);
    for (let hour = hourOf(oldest); hour <= hourOf(now); hour++)
      for (const line of await this.#linesOf(hour)) {
        // A minute of a large node takes a millisecond: other work comes between.
        await nextTurn();
        signal.throwIfAborted();
        // A line may be empty or cut.
        const minute = attempt(() => noteSchema.parse(JSON.parse(line)));
        if (minute !== undefined) fold.add(minute[0], minute.slice(1).filter(isMinuteSample));
      }
    // The present use belongs to the answer, and is not kept.
    fold.add(now, await this.#samples());
    return fold.result();
  }

  /** Never rejects: a full disk costs the charts, and nothing else. */
  protected async round(): Promise<void> {
    const { clock, logger, directory } = this.#options;
    const at = clock.now();
    try {
      // The removal comes first: on a full disk it makes room.
      await this.#prune(hourOf(at));
      const samples = await this.#samples();
      if (samples.length > 0)
        // The line break comes first, so that a line which a crash cut does not spoil the next one.
        await appendFile(this.#fileOf(hourOf(at)), `\n${JSON.stringify([at, ...samples])}`, { mode: 0o600 });
    } catch (error) {
      logger.warn({ err: error }, `what instances use cannot be kept in ${directory}: charts have a gap`);
    }
  }

  async #samples(): Promise<MinuteSample[]> {
    const { instances, players: playersOf } = this.#options;
    const used = [...instances()];
    if (used.length === 0) return [];
    const players = await playersOf(used.map(({ id }) => id)).catch(() => new Map<string, number>());
    return used.map(({ id, configuration, run, cpuPercent, memoryBytes }) => {
      const cpu = cpuPercent === null ? null : Math.round(cpuPercent * 10) / 10;
      return [id, configuration, cpu, memoryBytes, players.get(id) ?? null, run];
    });
  }

  /** Removes what is older than a day, and what a clock that was ahead has written. */
  async #prune(hour: number): Promise<void> {
    const { directory } = this.#options;
    for (const name of await readdir(directory)) {
      const its = Number(name.replace('.jsonl', ''));
      if (its < hour - DAY_MS / HOUR_MS || its > hour) await rm(join(directory, name), { force: true });
    }
  }

  /** The lines of an hour; none when it has no file. */
  async #linesOf(hour: number): Promise<string[]> {
    return (await readFile(this.#fileOf(hour), 'utf8').catch(ignoreMissing))?.split('\n') ?? [];
  }

  #fileOf(hour: number): string {
    return join(this.#options.directory, `${hour}.jsonl`);
  }
}

function hourOf(at: number): number {
  return Math.floor(at / HOUR_MS);
}
