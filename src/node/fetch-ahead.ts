/**
 * Keeps the trees that this node's instances name in its cache, also for running instances: their next start must not
 * need the master. Called when the feed changes an instance, and when the connection to the master is back.
 */
import { Backoff } from '../loop/backoff.js';
import type { Clock, TimerHandle } from '../loop/clock.js';
import type { Desired } from './desired-copy.js';
import type { TemplatePrefetch } from './template-prefetch.js';

/** The wait before a fetch ahead. A fetch that an instance waits for begins within this time, and goes first. */
const BEGIN_AFTER_MS = 100;
const FIRST_RETRY_MS = 1000;
/**
 * The longest wait between two tries. Each try may transfer much of a large tree, so a full disk must not cause endless
 * load.
 */
const MAX_RETRY_MS = 300_000;

interface FetchAheadOptions {
  readonly desired: { ids(): Iterable<string>; get(id: string): Desired | undefined };
  readonly installation: { isCached(digest: string): boolean };
  readonly prefetch: Pick<TemplatePrefetch, 'fetchOne'>;
  /** The calls to the master; undefined while the node is not connected. */
  readonly calls: () => unknown;
  readonly clock: Clock;
  readonly random: () => number;
}

export class FetchAhead {
  readonly #options: FetchAheadOptions;
  readonly #backoff: Backoff;
  /** Digests to fetch, in the order in which they were named. */
  readonly #due = new Set<string>();
  /** Digests that failed, each with the timer of the next try. */
  readonly #failed = new Map<string, TimerHandle>();
  #begin: TimerHandle | undefined;
  #fetching: Promise<void> | undefined;
  #isStopped = false;

  constructor(options: FetchAheadOptions) {
    this.#options = options;
    this.#backoff = new Backoff(options.random, { baseMs: FIRST_RETRY_MS, maxMs: MAX_RETRY_MS });
  }

  /** Called when the desired state of `id` has changed. Cheap. */
  changed(id: string): void {
    for (const digest of digestsOf(this.#options.desired.get(id)))
      if (!this.#options.installation.isCached(digest) && !this.#failed.has(digest)) this.#due.add(digest);
    this.#beginSoon();
  }

  /** Tries every missing tree at once, because the connection is back. */
  connected(): void {
    for (const digest of [...this.#failed.keys()]) this.#forget(digest);
    for (const id of this.#options.desired.ids()) this.changed(id);
  }

  /** Begins no further fetch, and waits for the fetch under way, which its owner ends. Idempotent. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#begin?.cancel();
    for (const timer of this.#failed.values()) timer.cancel();
    await this.#fetching;
  }

  /**
   * Begins the due fetches after a short wait. While there is no connection, the digests stay due until `connected`.
   */
  #beginSoon(): void {
    const { clock, calls } = this.#options;
    if (this.#isStopped || this.#due.size === 0 || this.#fetching !== undefined || calls() === undefined)
      return;
    this.#begin ??= clock.setTimer(BEGIN_AFTER_MS, () => {
      this.#begin = undefined;
      this.#fetching = this.#fetchDue().finally(() => {
        this.#fetching = undefined;
        // Look again: a digest may have become due just after the last fetch ended.
        this.#beginSoon();
      });
    });
  }

  async #fetchDue(): Promise<void> {
    const { installation, prefetch, calls } = this.#options;
    for (const digest of this.#due) {
      if (this.#isStopped || calls() === undefined) return;
      this.#due.delete(digest);
      if (installation.isCached(digest) || !this.#isWanted(digest)) continue;
      const { outcome } = await prefetch.fetchOne(digest);
      if (outcome === 'failed') this.#retryLater(digest);
      else this.#forget(digest);
    }
  }

  #retryLater(digest: string): void {
    if (this.#isStopped) return;
    // Remove the digest again: another instance may have named it during the fetch.
    this.#due.delete(digest);
    const timer = this.#options.clock.setTimer(this.#backoff.next(digest), () => {
      this.#failed.delete(digest);
      if (this.#isWanted(digest)) this.#due.add(digest);
      else this.#backoff.clear(digest);
      this.#beginSoon();
    });
    this.#failed.set(digest, timer);
  }

  #forget(digest: string): void {
    this.#failed.get(digest)?.cancel();
    this.#failed.delete(digest);
    this.#backoff.clear(digest);
  }

  #isWanted(digest: string): boolean {
    const { desired } = this.#options;
    return [...desired.ids()].some((id) => digestsOf(desired.get(id)).includes(digest));
  }
}

/** The trees that the next start of an instance needs. */
function digestsOf(desired: Desired | undefined): string[] {
  if (desired?.assignment.goal !== 'run') return [];
  return desired.assignment.templates.flatMap(({ digest }) => digest ?? []);
}
