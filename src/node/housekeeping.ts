/** Limits what a wrapper keeps on disk: removes logs of removed instances and unused template trees. */
import { pruneLogs } from '../logs/prune.js';
import { Rounds } from '../loop/rounds.js';
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

/** The first clean-up comes after ten minutes: a node that has just started has other things to do. */
export class Housekeeping extends Rounds {
  readonly #options: HousekeepingOptions;

  constructor(options: HousekeepingOptions) {
    super(options.clock, EVERY_MS);
    this.#options = options;
  }

  protected async round(): Promise<void> {
    const { logsDirectory, cache, inUse, logger, clock } = this.#options;
    const { instanceIds, digests } = inUse();
    try {
      await pruneLogs(logsDirectory, instanceIds, clock.now());
      const rule = { maxBytes: CACHE_MAX_BYTES, maxAgeMs: CACHE_MAX_AGE_MS, inUse: digests };
      await cache.evict(rule, this.stopping);
    } catch (error) {
      if (!this.stopping.aborted)
        logger.warn({ err: error }, 'old logs and templates could not be cleaned up');
    }
  }
}
