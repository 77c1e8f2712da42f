import { pause } from '../../loop/pause.js';
import type { EtcdFigures } from '../../telemetry/gauges.js';
import { RepeatedLog } from '../../telemetry/repeated-log.js';
import { EtcdError, MAKE_ROOM } from './etcd-error.js';
import type { LeaseOptions } from './lease.js';

const LOOK_EVERY_MS = 15_000;
/** The pause between compactions: long enough for every reader to have followed the history. */
const COMPACT_EVERY_MS = 3_600_000;
/**
 * The growth of the database that causes an early compaction. The history may grow to twice this size, which fits into
 * the default quota of 2 GiB.
 */
const COMPACT_FROM_BYTES = 256 * 1024 * 1024;

interface UpkeepOptions extends Omit<LeaseOptions, 'keys' | 'own'> {
  /** The key to read, any key of the store. */
  readonly key: string;
}

export class Upkeep {
  readonly #options: UpkeepOptions;
  readonly #log: RepeatedLog | undefined;
  readonly #stopping = new AbortController();
  #figures: EtcdFigures | undefined;
  #bytesInUse = 0;
  /**
   * The fewest bytes in use since the last compaction. Growth is measured from here, because etcd needs
   * several seconds to free compacted bytes.
   */
  #leastBytesInUse = Infinity;
  #running: Promise<void> | undefined;

  constructor(options: UpkeepOptions) {
    this.#options = options;
    const { logger, clock } = options;
    this.#log = logger && new RepeatedLog(logger, clock);
  }

  /** The figures of the last answered look; undefined: no look was answered yet. */
  get figures(): EtcdFigures | undefined {
    return this.#figures;
  }

  start(): void {
    this.#running ??= this.#run(this.#stopping.signal);
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }

  async #run(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    let revision = 0;
    let compactAt = clock.monotonic();
    while (!signal.aborted) {
      await this.#attempt('looked at for /metrics', () => this.#look());
      if (clock.monotonic() >= compactAt || this.#bytesInUse >= this.#leastBytesInUse + COMPACT_FROM_BYTES)
        await this.#attempt('compacted', async () => {
          revision = await this.#compact(revision);
          compactAt = clock.monotonic() + COMPACT_EVERY_MS;
          this.#leastBytesInUse = this.#bytesInUse;
        });
      await pause(clock, LOOK_EVERY_MS, signal);
    }
  }

  async #attempt(what: string, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (!(error instanceof EtcdError)) throw error;
      // Only refusals are logged here: the renewal of the lease reports a missing answer.
      if (error.isRefusal) this.#log?.say(what, `etcd cannot be ${what}: ${error.message}`);
    }
  }

  async #look(): Promise<void> {
    const { etcd, logger } = this.#options;
    const { databaseBytes, databaseBytesInUse } = await etcd.status();
    this.#bytesInUse = databaseBytesInUse;
    this.#leastBytesInUse = Math.min(this.#leastBytesInUse, databaseBytesInUse);
    const alarms: ReadonlySet<string> = new Set(await etcd.alarms());
    const before = this.#figures?.alarms ?? new Set<string>();
    for (const alarm of alarms)
      if (!before.has(alarm))
        logger?.error(
          { databaseBytes, databaseBytesInUse },
          `etcd has the alarm ${alarm}${alarm === 'NOSPACE' ? `, so no master can write or be elected; ${MAKE_ROOM}` : ''}`,
        );
    for (const alarm of before) if (!alarms.has(alarm)) logger?.info(`the alarm ${alarm} of etcd is over`);
    this.#figures = { databaseBytes, databaseBytesInUse, alarms };
  }

  /** Compacts up to the revision `before`, unless it is 0. Returns the present revision. */
  async #compact(before: number): Promise<number> {
    const { etcd, key, logger } = this.#options;
    const { revision } = await etcd.range({ key });
    if (before > 0)
      await etcd.compact(before).catch((error: unknown) => {
        // A refusal means that something else, such as etcd itself, has compacted further, and so is no failure.
        if (!(error instanceof EtcdError) || !error.isRefusal || error.isHopeless) throw error;
        logger?.debug(`etcd was not compacted: ${error.message}`);
      });
    return revision;
  }
}
