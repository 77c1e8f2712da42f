/**
 * Fetches template trees that the master expects to be needed, one after the other, beside what instances need now.
 * A tree that could not be fetched is fetched again when an instance needs it.
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
  /** The trees that are still to be fetched, in the order of asking; the first one is under way. */
  readonly #wanted = new Map<string, Promise<TreeResult>>();
  #last: Promise<unknown> = Promise.resolve();

  constructor(options: TemplatePrefetchOptions) {
    this.#options = options;
  }

  /**
   * Fetches those that are not cached, and yields the result of each digest in turn. Calls may overlap: a tree that two
   * of them want is fetched once. A caller that stops reading stops no fetch.
   */
  async *fetch(digests: readonly string[]): AsyncGenerator<TreeResult> {
    const results = digests.map((digest) =>
      this.#options.isCached(digest) ? had(digest) : this.#want(digest),
    );
    for (const result of results) yield await result;
  }

  /** Breaks off the fetch under way and begins no other. Idempotent. */
  async stop(): Promise<void> {
    this.#stopped.abort();
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
