/** A topic of the change stream: its entries in the order of their changes, and the JSON text of each entry. */
import { ChangeOrder, type Traits } from './change-order.js';
import type { FilterOptions } from './watch-filter.js';

export type FilterName = keyof FilterOptions;

/** The source of a topic's entries. It calls `put` for each present entry, and for each that changes. */
export interface TopicSource {
  /** The names of the filters for which its entries have traits. */
  readonly filters: readonly FilterName[];
  /** True when the topic shows more than a key that is restricted to configurations may see. */
  readonly isWhole?: true;
  /**
   * The JSON text of an entry now; undefined: the entry is gone. `isRestricted`: the reader's key is restricted to
   * configurations.
   */
  textOf(id: string, isRestricted: boolean): string | undefined;
  /** Begins to follow the entries. Returns the function that stops following. */
  follow(entries: { put(id: string, traits: Traits): void; remove(id: string): void }): () => void;
}

export class Topic {
  readonly name: string;
  readonly source: TopicSource;
  readonly order: ChangeOrder;
  readonly #onChange: () => void;
  #unfollow: (() => void) | undefined;

  /** Calls `onChange` at every change, from the first `open` on. */
  constructor(name: string, source: TopicSource, onChange: () => void, mostEnds?: number) {
    this.order = new ChangeOrder(mostEnds);
    this.name = name;
    this.source = source;
    this.#onChange = onChange;
  }

  /** Begins to follow the source. A topic that no reader has asked for costs nothing. */
  open(): void {
    this.#unfollow ??= this.source.follow({
      put: (id, traits) => {
        this.order.put(id, traits);
        this.#onChange();
      },
      remove: (id) => {
        this.order.remove(id);
        this.#onChange();
      },
    });
  }

  /** Stops following the source. Idempotent. */
  close(): void {
    this.#unfollow?.();
  }
}
