/**
 * Fetches template trees ahead of need, one after the other. No such fetch begins while an instance waits for another
 * tree.
 */
import type { CallPeer } from '../channel/protocol/calls.js';
import { publicMessage } from '../model/public-message.js';
import type { FetchCost, TreeResult } from '../model/template.js';
import type { Logger } from '../telemetry/logger.js';

interface TemplatePrefetchOptions {
  readonly installation: {
    isCached(digest: string): boolean;
    fetch(digest: string, calls: CallPeer | undefined, signal: AbortSignal): Promise<FetchCost | undefined>;
  };
  /** The calls to the master; undefined while the node is not connected. */
  readonly calls: () => CallPeer | undefined;
  /** Called when a tree was fetched, because an instance may be waiting for it. */
  readonly onFetched: (digest: string) => void;
  readonly logger: Logger;
}

export class TemplatePrefetch {
  readonly #options: TemplatePrefetchOptions;
  readonly #stopped = new AbortController();
  /** The trees that are still to be fetched, in the order of asking; the first one is under way. */
  readonly #wanted = new Map<string, Promise<TreeResult>>();
  #last: Promise<unknown> = Promise.resolve();
  readonly #urgent = new Set<Promise<unknown>>();

  constructor(options: TemplatePrefetchOptions) {
    this.#options = options;
  }

  /**
   * Fetches the trees that are not cached, and yields the result of each digest in turn. Concurrent calls share the
   * fetch of a tree. The fetches continue when a caller stops reading.
   */
  async *fetch(digests: readonly string[]): AsyncGenerator<TreeResult> {
    const results = digests.map((digest) => this.fetchOne(digest));
    for (const result of results) yield await result;
  }

  /** Like `fetch`, for one digest. Never rejects. */
  async fetchOne(digest: string): Promise<TreeResult> {
    if (this.#options.installation.isCached(digest)) return had(digest);
    const known = this.#wanted.get(digest);
    if (known !== undefined) return known;
    const wanted = this.#last.then(() => this.#fetch(digest)).finally(() => this.#wanted.delete(digest));
    this.#wanted.set(digest, wanted);
    this.#last = wanted;
    return wanted;
  }

  /** Fetches a tree that an instance waits for. The fetch begins at once, also during another fetch. */
  async urgent(digest: string, signal: AbortSignal): Promise<void> {
    const { installation, calls } = this.#options;
    const working = installation.fetch(digest, calls(), signal);
    const settled = working.catch(() => undefined).finally(() => this.#urgent.delete(settled));
    this.#urgent.add(settled);
    await working;
  }

  /** Aborts the fetch under way and begins no other. Idempotent. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    await this.#last;
  }

  async #fetch(digest: string): Promise<TreeResult> {
    const { installation, calls, logger, onFetched } = this.#options;
    const { signal } = this.#stopped;
    while (this.#urgent.size > 0) await Promise.all(this.#urgent);
    if (signal.aborted) return failed(digest, 'the node stops');
    if (installation.isCached(digest)) return had(digest);
    try {
      const { transferredBytes: bytes = 0, transferredFiles: files = 0 } =
        (await installation.fetch(digest, calls(), signal)) ?? {};
      logger.info(
        { digest, bytes, files },
        `a template tree was fetched ahead of need: ${files} files, ${bytes} bytes`,
      );
      onFetched(digest);
      return { digest, outcome: 'fetched', bytes, files, problem: null };
    } catch (error) {
      if (signal.aborted) return failed(digest, 'the node stops');
      const problem = publicMessage(error);
      logger.warn(
        { digest, reason: problem },
        `a template tree could not be fetched ahead of need: ${problem}`,
      );
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
