/**
 * What the controller remembers of a key from one round to the next: failures, and how long it
 * has been changing without ever settling. A key in good order takes no memory.
 */
import { Backoff, type BackoffOptions } from './backoff.js';

/** Changing rounds in a row, with no word from outside, after which a plan counts as one that never settles. */
export const MOST_CHANGES_IN_A_ROW = 100;

export class KeyHistory {
  readonly #backoff: Backoff;
  readonly #changesInARow = new Map<string, number>();

  constructor(random: () => number, backoff?: BackoffOptions) {
    this.#backoff = new Backoff(random, backoff);
  }

  /** Somebody asks for the key: it may have a reason to change once more. */
  noteRequest(key: string): void {
    this.#changesInARow.delete(key);
  }

  /** A new spec: whatever failed before says nothing about it. */
  noteSpec(key: string): void {
    this.forget(key);
  }

  /** Counts a round that changed something; false once that has gone on for too long. */
  noteChange(key: string): boolean {
    const changes = (this.#changesInARow.get(key) ?? 0) + 1;
    this.#changesInARow.set(key, changes);
    return changes <= MOST_CHANGES_IN_A_ROW;
  }

  /** Counts a failed round and answers after how many ms to try again. */
  noteFailure(key: string): number {
    return this.#backoff.next(key);
  }

  /** The key is in good order, or gone. */
  forget(key: string): void {
    this.#backoff.clear(key);
    this.#changesInARow.delete(key);
  }
}
