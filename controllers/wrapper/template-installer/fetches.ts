/**
 * The fetches that instances wait for. They hold no place of the installer: an install without a fetch goes on beside
 * fetches that hang.
 */
import PQueue from 'p-queue';
import type { NodeParts } from '../parts.js';

/** How many trees are fetched at once: each fetch downloads and unpacks a tree. */
const FETCHES_AT_ONCE = 4;

export class Fetches {
  readonly #parts: NodeParts;
  readonly #places = new PQueue({ concurrency: FETCHES_AT_ONCE });
  readonly #stopped = new AbortController();
  readonly #underWay = new Map<string, Promise<unknown>>();
  /** Ids of the instances that wait for a fetch. */
  readonly #waiting = new Set<string>();

  constructor(parts: NodeParts) {
    this.#parts = parts;
  }

  isWaiting(id: string): boolean {
    return this.#waiting.has(id);
  }

  /**
   * Fetches a tree for an instance. A tree that several instances wait for is fetched once. Calls `onEnd` when the tree
   * is here, or with the error when it cannot be had; never after `stop`.
   */
  begin(id: string, digest: string, onEnd: (error: unknown) => void): void {
    this.#waiting.add(id);
    const end = (error?: unknown): void => {
      this.#waiting.delete(id);
      if (!this.#stopped.signal.aborted) onEnd(error);
    };
    this.#fetch(digest).then(() => end(), end);
  }

  /** Breaks off the fetches under way, and resolves when they have ended. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    this.#places.clear();
    await this.#places.onIdle();
  }

  #fetch(digest: string): Promise<unknown> {
    const known = this.#underWay.get(digest);
    if (known !== undefined) return known;
    const { prefetch, installation, calls } = this.#parts;
    const fetching = this.#places
      .add(() => prefetch.urgent(() => installation.fetch(digest, calls(), this.#stopped.signal)))
      .finally(() => this.#underWay.delete(digest));
    this.#underWay.set(digest, fetching);
    return fetching;
  }
}
