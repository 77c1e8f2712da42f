/**
 * Fetches template trees that the master expects to be needed, one after the other, beside everything that is really
 * needed. What fails is fetched when an instance needs it.
 */
import { messageOf } from '../model/errors.js';
import type { Logger } from '../telemetry/logger.js';

export interface TemplatePrefetchOptions {
  readonly isCached: (digest: string) => boolean;
  readonly fetch: (digest: string, signal: AbortSignal) => Promise<void>;
  readonly logger: Logger;
}

export class TemplatePrefetch {
  readonly #options: TemplatePrefetchOptions;
  readonly #stopped = new AbortController();
  /** In order of asking; one that is being fetched is the first. */
  readonly #wanted = new Set<string>();
  #working: Promise<void> | undefined;

  constructor(options: TemplatePrefetchOptions) {
    this.#options = options;
  }

  /** Returns at once: how many of the trees are not here yet. Repeatable. */
  take(digests: readonly string[]): number {
    const missing = digests.filter((digest) => !this.#options.isCached(digest));
    if (missing.length === 0 || this.#stopped.signal.aborted) return missing.length;
    for (const digest of missing) this.#wanted.add(digest);
    this.#working ??= this.#work();
    return missing.length;
  }

  /** Breaks off. Idempotent. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    await this.#working;
  }

  /** Resolves when nothing is left to fetch. */
  async whenIdle(): Promise<void> {
    await this.#working;
  }

  async #work(): Promise<void> {
    let fetched = 0;
    let failed = 0;
    for (const digest of this.#wanted) {
      if (this.#stopped.signal.aborted) break;
      if (await this.#fetch(digest)) fetched++;
      else failed++;
      this.#wanted.delete(digest);
    }
    // In the same turn as the look at what is wanted: whoever comes now starts anew.
    this.#working = undefined;
    if (this.#stopped.signal.aborted) return;
    const trouble = failed === 0 ? '' : `, ${failed} could not be had`;
    this.#options.logger.info({ fetched, failed }, `template sync: ${fetched} trees fetched${trouble}`);
  }

  async #fetch(digest: string): Promise<boolean> {
    const { fetch, logger } = this.#options;
    try {
      await fetch(digest, this.#stopped.signal);
      return true;
    } catch (error) {
      if (!this.#stopped.signal.aborted)
        logger.warn(
          { digest, reason: messageOf(error) },
          `template sync: a tree could not be fetched: ${messageOf(error)}`,
        );
      return false;
    }
  }
}
