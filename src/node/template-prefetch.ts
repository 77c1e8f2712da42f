/**
 * Fetches template trees that the master expects to be needed, one after the other, beside everything that is really
 * needed. What fails is fetched when an instance needs it.
 */
import { publicMessage } from '../model/public-message.js';
import type { FetchCost, TreeResult } from '../model/template.js';
import type { Logger } from '../telemetry/logger.js';

export interface TemplatePrefetchOptions {
  readonly isCached: (digest: string) => boolean;
  readonly fetch: (digest: string, signal: AbortSignal) => Promise<FetchCost | undefined>;
  readonly logger: Logger;
}

export class TemplatePrefetch {
  readonly #options: TemplatePrefetchOptions;
  readonly #stopped = new AbortController();
  /** In order of asking; one that is being fetched is the first. */
  readonly #wanted = new Map<string, Promise<TreeResult>>();
  #last: Promise<unknown> = Promise.resolve();

  constructor(options: TemplatePrefetchOptions) {
    this.#options = options;
  }

  /** Returns at once: how many of the trees are not here yet. Repeatable. */
  take(digests: readonly string[]): number {
    const missing = digests.filter((digest) => !this.#options.isCached(digest));
    for (const digest of missing) void this.#want(digest);
    return missing.length;
  }

  /** Takes them all, and says of each in turn how that went. Whoever stops listening stops nothing. */
  async *follow(digests: readonly string[]): AsyncGenerator<TreeResult> {
    const results = digests.map((digest) =>
      this.#options.isCached(digest) ? had(digest) : this.#want(digest),
    );
    for (const result of results) yield await result;
  }

  /** Breaks off. Idempotent. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    await this.#last;
  }

  /** Resolves when nothing is left to fetch. */
  async whenIdle(): Promise<void> {
    await this.#last;
  }

  #want(digest: string): Promise<TreeResult> {
    const known = this.#wanted.get(digest);
    if (known !== undefined) return known;
    const wanted = this.#last.then(() => this.#fetch(digest)).finally(() => this.#wanted.delete(digest));
    this.#wanted.set(digest, wanted);
    this.#last = wanted;
    return wanted;
  }

  async #fetch(digest: string): Promise<TreeResult> {
    const { fetch, isCached, logger } = this.#options;
    const { signal } = this.#stopped;
    if (signal.aborted) return failed(digest, 'the node stops');
    if (isCached(digest)) return had(digest);
    try {
      const { transferredBytes: bytes = 0, transferredFiles: files = 0 } =
        (await fetch(digest, signal)) ?? {};
      logger.info(
        { digest, bytes, files },
        `template sync: a tree was fetched: ${files} files, ${bytes} bytes`,
      );
      return { digest, outcome: 'fetched', bytes, files, problem: null };
    } catch (error) {
      if (signal.aborted) return failed(digest, 'the node stops');
      const problem = publicMessage(error);
      logger.warn({ digest, reason: problem }, `template sync: a tree could not be fetched: ${problem}`);
      return failed(digest, problem);
    }
  }
}

function had(digest: string): TreeResult {
  return { digest, outcome: 'had', bytes: 0, files: 0, problem: null };
}

function failed(digest: string, problem: string): TreeResult {
  return { digest, outcome: 'failed', bytes: 0, files: 0, problem };
}
