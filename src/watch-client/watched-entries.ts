/** The entries of one topic of the change stream, as they are now. */
import type { EntryMessage } from './messages.js';

export class WatchedEntries<T> {
  readonly #keyOf: (entry: T) => string;
  #entries = new Map<string, T>();
  /** The part of a snapshot that has arrived so far; null: no snapshot is under way. */
  #arriving: Map<string, T> | null = null;
  #isWhole = false;

  constructor(keyOf: (entry: T) => string) {
    this.#keyOf = keyOf;
  }

  /** True when a whole snapshot has arrived. Until then the entries are empty. */
  get isWhole(): boolean {
    return this.#isWhole;
  }

  /** A new map after each snapshot; the same map after changes. */
  get entries(): ReadonlyMap<string, T> {
    return this.#entries;
  }

  get(key: string): T | undefined {
    return this.#entries.get(key);
  }

  values(): T[] {
    return [...this.#entries.values()];
  }

  /**
   * Takes a message. The entries of a snapshot take effect with its last part, so that a reader never sees half of a
   * snapshot. Returns true when all entries were replaced. Otherwise adds the former value of each changed key to
   * `before`; a key that is already in `before` keeps its value there.
   */
  take(message: EntryMessage, before?: Map<string, T | undefined>): boolean {
    if (message.type === 'snapshot') return this.#takeSnapshot(message);
    const remember = (key: string): void => {
      if (before?.has(key) === false) before.set(key, this.#entries.get(key));
    };
    for (const [key, entry] of this.#keyed(message)) {
      remember(key);
      this.#entries.set(key, entry);
    }
    for (const key of message.gone) {
      remember(key);
      this.#entries.delete(key);
    }
    return false;
  }

  clear(): void {
    this.#entries = new Map();
    this.#arriving = null;
    this.#isWhole = false;
  }

  #takeSnapshot(message: Extract<EntryMessage, { type: 'snapshot' }>): boolean {
    if (message.isFirst) this.#arriving = new Map();
    for (const [key, entry] of this.#keyed(message)) this.#arriving?.set(key, entry);
    if (!message.isLast || this.#arriving === null) return false;
    this.#entries = this.#arriving;
    this.#arriving = null;
    this.#isWhole = true;
    return true;
  }

  #keyed({ put }: EntryMessage): [key: string, entry: T][] {
    return put.map((value) => {
      // The master makes an entry by its own schema, and may be older or newer than this reader.
      const entry = value as T;
      return [this.#keyOf(entry), entry];
    });
  }
}
