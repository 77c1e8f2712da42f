/**
 * The entries of a store that pass a filter, in order, perhaps in groups. A change moves only the entries that it
 * concerns. Nothing else is sorted again, so that 10,000 entries with 1,000 changes a second leave the main thread
 * free.
 */
import type { Batch } from './topic-store.js';

export interface Order<T> {
  readonly includes: (entry: T) => boolean;
  /** The group of an entry. Entries are ordered by group first; null: there are no groups. */
  readonly groupOf: ((entry: T) => string) | null;
  /**
   * The value that an entry is sorted by. Texts are compared by code unit, numbers by size; numbers come before texts.
   */
  readonly sortBy: (entry: T) => string | number;
  readonly isDescending: boolean;
}

export interface Group {
  readonly name: string;
  /** The place of the group's first entry. */
  readonly start: number;
  readonly count: number;
}

interface Slot<T> {
  readonly key: string;
  readonly entry: T;
  readonly group: string;
  readonly sort: string | number;
}

export class OrderedList<T> {
  readonly #order: Order<T>;
  readonly #slots: Slot<T>[] = [];
  readonly #byKey = new Map<string, Slot<T>>();

  constructor(order: Order<T>, entries: ReadonlyMap<string, T>) {
    this.#order = order;
    this.#fill(entries);
  }

  get count(): number {
    return this.#slots.length;
  }

  at(place: number): { readonly key: string; readonly entry: T } | undefined {
    return this.#slots[place];
  }

  keys(): string[] {
    return this.#slots.map(({ key }) => key);
  }

  /** The place of a key, or -1. */
  placeOf(key: string): number {
    const slot = this.#byKey.get(key);
    return slot === undefined ? -1 : this.#search(slot);
  }

  /** The groups in order; empty when the order has no groups. */
  groups(): Group[] {
    const groups: Group[] = [];
    if (this.#order.groupOf === null) return groups;
    for (let start = 0; start < this.#slots.length; ) {
      const name = this.#slots[start]?.group ?? '';
      const end = this.#firstPlace(({ group }) => group > name, start);
      groups.push({ name, start, count: end - start });
      start = end;
    }
    return groups;
  }

  /**
   * Takes a batch of the store. `entries`: the store's entries after the batch. Returns true when the list has
   * changed.
   */
  apply(batch: Batch<T>, entries: ReadonlyMap<string, T>): boolean {
    if (batch.isNew) {
      this.#fill(entries);
      return true;
    }
    let isChanged = false;
    for (const key of batch.before.keys()) isChanged = this.#put(key, entries.get(key)) || isChanged;
    return isChanged;
  }

  #put(key: string, entry: T | undefined): boolean {
    const old = this.#byKey.get(key);
    const slot = entry !== undefined && this.#order.includes(entry) ? this.#slotOf(key, entry) : undefined;
    if (old === undefined && slot === undefined) return false;
    if (old !== undefined && slot !== undefined && this.#compare(old, slot) === 0) {
      this.#slots[this.#search(old)] = slot;
    } else {
      if (old !== undefined) this.#slots.splice(this.#search(old), 1);
      if (slot !== undefined) this.#slots.splice(this.#search(slot), 0, slot);
    }
    if (slot === undefined) this.#byKey.delete(key);
    else this.#byKey.set(key, slot);
    return true;
  }

  #fill(entries: ReadonlyMap<string, T>): void {
    this.#slots.length = 0;
    this.#byKey.clear();
    for (const [key, entry] of entries) {
      if (!this.#order.includes(entry)) continue;
      const slot = this.#slotOf(key, entry);
      this.#slots.push(slot);
      this.#byKey.set(key, slot);
    }
    this.#slots.sort((a, b) => this.#compare(a, b));
  }

  #slotOf(key: string, entry: T): Slot<T> {
    return { key, entry, group: this.#order.groupOf?.(entry) ?? '', sort: this.#order.sortBy(entry) };
  }

  /** The place of the slot, or the place where it would be put. */
  #search(slot: Slot<T>): number {
    return this.#firstPlace((other) => this.#compare(other, slot) >= 0);
  }

  #firstPlace(isBehind: (slot: Slot<T>) => boolean, from = 0): number {
    let low = from;
    let high = this.#slots.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      const slot = this.#slots[middle];
      if (slot !== undefined && isBehind(slot)) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  /** Compares two slots. Two different keys never compare as 0, so each slot has exactly one place. */
  #compare(a: Slot<T>, b: Slot<T>): number {
    if (a.group !== b.group) return a.group < b.group ? -1 : 1;
    const sort = compareValues(a.sort, b.sort);
    if (sort !== 0) return this.#order.isDescending ? -sort : sort;
    return a.key === b.key ? 0 : a.key < b.key ? -1 : 1;
  }
}

function compareValues(a: string | number, b: string | number): number {
  if (a === b) return 0;
  if (typeof a !== typeof b) return typeof a === 'number' ? -1 : 1;
  return a < b ? -1 : 1;
}
