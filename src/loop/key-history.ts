/**
 * The controller's memory of a key between rounds: its failures, and how many rounds in a row changed something without
 * settling. A settled key takes no memory.
 */
import { Backoff, type BackoffOptions } from './backoff.js';

/**
 * How many changing rounds in a row are allowed without a request from outside. With more, the plan counts as one that
 * never settles.
 */
export const MOST_CHANGES_IN_A_ROW = 100;

export class KeyHistory {
  readonly #backoff: Backoff;
  readonly #changesInARow = new Map<string, number>();

  constructor(random: () => number, backoff?: BackoffOptions) {
    this.#backoff = new Backoff(random, backoff);
  }

  /** Notes a request from outside for the key: resets the count of changes in a row. */
  noteRequest(key: string): void {
    this.#changesInARow.delete(key);
  }

  /** Notes a new spec, which makes earlier failures meaningless. */
  noteSpec(key: string): void {
    this.forget(key);
  }

  /** Counts a round that changed something. Returns false after too many in a row. */
  noteChange(key: string): boolean {
    const changes = (this.#changesInARow.get(key) ?? 0) + 1;
    this.#changesInARow.set(key, changes);
    return changes <= MOST_CHANGES_IN_A_ROW;
  }

  /** Counts a failed round. Returns the delay in ms until the next try. */
  noteFailure(key: string): number {
    return this.#backoff.next(key);
  }

  /** True when the last round of the key failed. */
  isFailing(key: string): boolean {
    return this.#backoff.has(key);
  }

  /** Forgets a key that is settled or gone. */
  forget(key: string): void {
    this.#backoff.clear(key);
    this.#changesInARow.delete(key);
  }
}
