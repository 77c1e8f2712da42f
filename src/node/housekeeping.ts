/** Limits what a wrapper keeps on disk: removes logs of removed instances and unused template trees. */
import { pruneLogs } from '../logs/prune.js';
import type { TimerHandle } from '../loop/clock.js';
import type { Part } from '../loop/lifecycle.js';
import type { Ambient } from '../telemetry/ambient.js';
import type { TemplateCache } from '../templates/transfer/cache.js';

const EVERY_MS = 600_000;
const CACHE_MAX_BYTES = 10 * 1024 ** 3;
const CACHE_MAX_AGE_MS = 30 * 86_400_000;

interface HousekeepingOptions extends Ambient {
  readonly logsDirectory: string;
  readonly cache: TemplateCache;
  readonly inUse: () => { readonly instanceIds: ReadonlySet<string>; readonly digests: ReadonlySet<string> };
}

export class Housekeeping implements Part {
  readonly #options: HousekeepingOptions;
  readonly #stopping = new AbortController();
  #timer: TimerHandle | undefined;
  #round: Promise<void> = Promise.resolve();

  constructor(options: HousekeepingOptions) {
    this.#options = options;
  }

  /**
   * Starts the rounds. The first clean-up comes after ten minutes: a node that has just started has other things to do.
   */
  start(): void {
    this.#later();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#timer?.cancel();
    await this.#round;
  }

  #later(): void {
    if (this.#stopping.signal.aborted) return;
    this.#timer = this.#options.clock.setTimer(EVERY_MS, () => {
      this.#round = this.#clean().finally(() => this.#later());
    });
  }

  async #clean(): Promise<void> {
    const { logsDirectory, cache, inUse, logger } = this.#options;
    const { instanceIds, digests } = inUse();
    try {
      await pruneLogs(logsDirectory, instanceIds);
      await cache.evict(
        { maxBytes: CACHE_MAX_BYTES, maxAgeMs: CACHE_MAX_AGE_MS, inUse: digests },
        this.#stopping.signal,
      );
    } catch (error) {
      if (!this.#stopping.signal.aborted)
        logger.warn({ err: error }, 'old logs and templates could not be cleaned up');
    }
  }
}
