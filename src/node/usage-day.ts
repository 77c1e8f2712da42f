/**
 * The node's memory of what its instances used over the last day: one line a minute for all of them, in a file of each
 * hour. So the charts outlive the daemon and the machine, and a configuration keeps the past of its removed instances.
 */
import { appendFile, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { z } from 'zod';
import { hasFileCode } from '../files/system-error.js';
import type { Clock, TimerHandle } from '../loop/clock.js';
import type { Part } from '../loop/lifecycle.js';
import {
  DAY_MS,
  MINUTE_MS,
  type MinuteSample,
  minuteSampleSchema,
  UsageFold,
  type UsageQuestion,
  type UsageSeries,
} from '../model/run/usage-series.js';
import type { Logger } from '../telemetry/logger.js';

const HOUR_MS = 60 * MINUTE_MS;
/** How long after the full minute a sample is taken, so that no sample falls into the minute before. */
const LAG_MS = 500;
const lineSchema = z.tuple([z.number()], minuteSampleSchema);

/** An instance that lives, or that ended unasked and is started again, with what it uses now. */
export interface UsedNow {
  readonly id: string;
  readonly configuration: string;
  readonly run: number;
  /** Null: not measured. */
  readonly cpuPercent: number | null;
  readonly memoryBytes: number | null;
}

interface UsageDayOptions {
  /** A private directory, which is made. */
  readonly directory: string;
  readonly instances: () => Iterable<UsedNow>;
  /** The players of instances, by id. Rejects when the master does not say. */
  readonly players: (ids: readonly string[]) => Promise<ReadonlyMap<string, number>>;
  readonly clock: Clock;
  readonly logger: Logger;
}

export class UsageDay implements Part {
  readonly #options: UsageDayOptions;
  #timer: TimerHandle | undefined;
  #isStopped = false;
  #note: Promise<void> = Promise.resolve();

  constructor(options: UsageDayOptions) {
    this.#options = options;
  }

  start(): void {
    if (this.#isStopped) return;
    const { clock } = this.#options;
    this.#timer = clock.setTimer(MINUTE_MS - (clock.now() % MINUTE_MS) + LAG_MS, () => {
      this.#note = this.#takeNote().finally(() => this.start());
    });
  }

  /** Idempotent. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#timer?.cancel();
    await this.#note;
  }

  async read(question: UsageQuestion, signal: AbortSignal): Promise<UsageSeries[]> {
    const now = this.#options.clock.now();
    const fold = new UsageFold(question, now);
    const oldest = Math.max(now - DAY_MS, now - question.everyMs * question.points);
    for (let hour = hourOf(oldest); hour <= hourOf(now); hour++)
      for (const line of await linesOf(this.#fileOf(hour))) {
        // A minute of a large node takes a millisecond: other work comes between.
        await nextTurn();
        signal.throwIfAborted();
        const minute = parsed(line);
        if (minute !== undefined) fold.add(...minute);
      }
    // What is used now belongs to the answer, and is not kept.
    fold.add(now, await this.#samples());
    return fold.result();
  }

  /** Never rejects: a full disk costs the charts, and nothing else. */
  async #takeNote(): Promise<void> {
    const { clock, logger, directory } = this.#options;
    const at = clock.now();
    try {
      const samples = await this.#samples();
      if (samples.length > 0)
        // The line break comes first, so that a line which a crash cut does not spoil the next one.
        await appendFile(this.#fileOf(hourOf(at)), `\n${JSON.stringify([at, ...samples])}`, { mode: 0o600 });
      await this.#prune(hourOf(at));
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

  #fileOf(hour: number): string {
    return join(this.#options.directory, `${hour}.jsonl`);
  }
}

function hourOf(at: number): number {
  return Math.floor(at / HOUR_MS);
}

/** The lines of a file; none when there is no such file. */
async function linesOf(path: string): Promise<string[]> {
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    if (!hasFileCode(error, 'ENOENT')) throw error;
    return '';
  });
  return text.split('\n');
}

/** A minute with its samples; undefined: the line is empty or cut. */
function parsed(line: string): [number, MinuteSample[]] | undefined {
  try {
    const [at, ...samples] = lineSchema.parse(JSON.parse(line));
    return [at, samples];
  } catch {
    return undefined;
  }
}
