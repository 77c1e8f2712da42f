/**
 * A binary heap whose items know their own slot, so that any of them can be moved or removed in O(log n). The work
 * queue and the fake clock order their entries with it.
 */

/** An item is in at most one heap at a time; only the heap writes `slot`. */
export interface HeapItem {
  slot: number;
}

export class Heap<T extends HeapItem> {
  readonly #items: T[] = [];
  readonly #isBefore: (a: T, b: T) => boolean;

  /** `isBefore` is a strict order; equal items may come in any order. */
  constructor(isBefore: (a: T, b: T) => boolean) {
    this.#isBefore = isBefore;
  }

  get size(): number {
    return this.#items.length;
  }

  /** The first item; it stays in the heap. */
  peek(): T | undefined {
    return this.#items[0];
  }

  push(item: T): void {
    this.#items.push(item);
    this.#rise(item, this.#items.length - 1);
  }

  /** Removes the first item and returns it. */
  pop(): T | undefined {
    const first = this.#items[0];
    if (first !== undefined) this.remove(first);
    return first;
  }

  /** Removes `item`, which must be in this heap. */
  remove(item: T): void {
    const last = this.#items.pop();
    if (last === undefined || last === item) return;
    last.slot = item.slot;
    this.update(last);
  }

  /** Restores the order after the caller changed the sort key of `item`, which must be in this heap. */
  update(item: T): void {
    this.#sink(item, this.#rise(item, item.slot));
  }

  clear(): void {
    this.#items.length = 0;
  }

  #rise(item: T, from: number): number {
    let slot = from;
    while (slot > 0) {
      const parentSlot = (slot - 1) >> 1;
      const parent = this.#items[parentSlot];
      if (parent === undefined || !this.#isBefore(item, parent)) break;
      this.#put(parent, slot);
      slot = parentSlot;
    }
    this.#put(item, slot);
    return slot;
  }

  #sink(item: T, from: number): void {
    let slot = from;
    for (let child = this.#firstChild(slot); child !== undefined; child = this.#firstChild(slot)) {
      if (!this.#isBefore(child, item)) break;
      const childSlot = child.slot;
      this.#put(child, slot);
      slot = childSlot;
    }
    this.#put(item, slot);
  }

  #firstChild(slot: number): T | undefined {
    const left = this.#items[2 * slot + 1];
    const right = this.#items[2 * slot + 2];
    if (left === undefined || right === undefined) return left;
    return this.#isBefore(right, left) ? right : left;
  }

  #put(item: T, slot: number): void {
    this.#items[slot] = item;
    item.slot = slot;
  }
}
