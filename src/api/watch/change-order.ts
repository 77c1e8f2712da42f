/**
 * The entries of one topic in the order of their last change. A reader is a place in that order. After that place come
 * the changed entries that the reader has not seen, each once and in its present form. So a reader costs one number,
 * however far it is behind, and readers at one place get equal messages.
 */

/** The values that filters compare. An entry that lacks a trait passes no filter for it. */
export interface Traits {
  readonly configuration?: string;
  readonly node?: string;
  readonly state?: string;
}

/** An entry, or the end of an entry. */
export interface Placed {
  readonly id: string;
  /** The place of the change, which is unique and larger than that of every earlier change. */
  readonly place: number;
  /** The traits of the entry; undefined: the entry is gone. */
  readonly traits: Traits | undefined;
  /** The preceding change of the entry; undefined: none. */
  readonly before: Omit<Placed, 'before'> | undefined;
}

/** How many abandoned places may stay. With more, and when they are over half of all places, they are cleared away. */
const MOST_LEFT = 1024;

/** How many ends are kept by default. A reader that is further behind gets a new snapshot. */
const MOST_ENDS = 10_000;

export class ChangeOrder {
  readonly #mostEnds: number;
  readonly #byId = new Map<string, Placed>();
  /** The changes by place. An entry that moved on also keeps its former places until these are cleared away. */
  #order: Placed[] = [];
  /** The ends by place, from `#firstEnd` on. The end of an entry that came back stays here. */
  #ends: Placed[] = [];
  #firstEnd = 0;
  #end = 0;
  #forgottenTo = 0;

  constructor(mostEnds: number = MOST_ENDS) {
    this.#mostEnds = mostEnds;
  }

  /** The place of the newest change; 0: no change yet. */
  get end(): number {
    return this.#end;
  }

  /**
   * True when all ends after `place` are still known. When it is false, a reader at `place` would keep entries that are
   * gone.
   */
  holdsAllAfter(place: number): boolean {
    return place >= this.#forgottenTo && place <= this.#end;
  }

  traitsOf(id: string): Traits | undefined {
    return this.#byId.get(id)?.traits;
  }

  put(id: string, traits: Traits): void {
    this.#change(id, traits);
  }

  /** Ends an entry. Changes nothing when there is no such entry. */
  remove(id: string): void {
    if (this.traitsOf(id) === undefined) return;
    const end = this.#change(id, undefined);
    this.#ends.push(end);
    if (this.#ends.length - this.#firstEnd > this.#mostEnds) this.#forgetFirstEnd();
  }

  /**
   * Yields the entries and ends after `place`, up to `upTo`, in order. The order must not change during the iteration.
   */
  *after(place: number, upTo: number): Generator<Placed> {
    for (let index = this.#indexAfter(place); index < this.#order.length; index++) {
      const placed = this.#order[index];
      if (placed === undefined || placed.place > upTo) return;
      if (this.#byId.get(placed.id) === placed) yield placed;
    }
  }

  #change(id: string, traits: Traits | undefined): Placed {
    const known = this.#byId.get(id);
    const before = known === undefined ? undefined : { id, place: known.place, traits: known.traits };
    const placed = { id, place: ++this.#end, traits, before };
    this.#byId.set(id, placed);
    this.#order.push(placed);
    const left = this.#order.length - this.#byId.size;
    if (left > MOST_LEFT && left > this.#byId.size)
      this.#order = this.#order.filter((one) => this.#byId.get(one.id) === one);
    return placed;
  }

  #forgetFirstEnd(): void {
    const end = this.#ends[this.#firstEnd++];
    if (end !== undefined && this.#byId.get(end.id) === end) {
      this.#byId.delete(end.id);
      this.#forgottenTo = end.place;
    }
    if (this.#firstEnd <= this.#mostEnds) return;
    this.#ends = this.#ends.slice(this.#firstEnd);
    this.#firstEnd = 0;
  }

  #indexAfter(place: number): number {
    let low = 0;
    let high = this.#order.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#order[middle]?.place ?? 0) > place) high = middle;
      else low = middle + 1;
    }
    return low;
  }
}
