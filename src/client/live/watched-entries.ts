/** The entries of one topic of the change stream, as they are now. */
import type { EntryMessage } from '../connection/watch-messages.js';

/** What a message changed, by key. */
export interface EntryChanges {
  readonly changed: readonly string[];
  readonly gone: readonly string[];
}

export class WatchedEntries<T> {
  readonly #keyOf: (entry: T) => string;
  readonly #entries = new Map<string, T>();
  /** The keys that a snapshot under way has not named yet. */
  #unnamed = new Set<string>();
  #isWhole = false;

  constructor(keyOf: (entry: T) => string) {
    this.#keyOf = keyOf;
  }

  /** True: all that is there has come at least once. */
  get isWhole(): boolean {
    return this.#isWhole;
  }

  get(key: string): T | undefined {
    return this.#entries.get(key);
  }

  values(): T[] {
    return [...this.#entries.values()];
  }

  /** An entry that a snapshot does not name any more goes at its end, so that the view is never half of one. */
  take(message: EntryMessage): EntryChanges {
    if (message.type === 'snapshot' && message.isFirst) this.#unnamed = new Set(this.#entries.keys());
    const changed = message.put.map((value) => {
      // The master makes it by its own schema, and may be older or newer than this client.
      const entry = value as T;
      const key = this.#keyOf(entry);
      this.#entries.set(key, entry);
      this.#unnamed.delete(key);
      return key;
    });
    const gone = this.#goneOf(message).filter((key) => this.#entries.delete(key));
    return { changed, gone };
  }

  #goneOf(message: EntryMessage): readonly string[] {
    if (message.type === 'changes') return message.gone;
    if (!message.isLast) return [];
    this.#isWhole = true;
    const gone = [...this.#unnamed];
    this.#unnamed.clear();
    return gone;
  }
}
