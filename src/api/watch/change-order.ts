/**
 * The entries of one topic in the order of their last change. A reader is a place in that order: behind it stands what
 * the reader has not seen, each entry once and as it is now. So a reader costs a number, however far behind it is, and
 * readers at the same place get the same.
 */

/** What filters look at. A trait that an entry does not have matches no filter for it. */
export interface Traits {
  readonly configuration?: string;
  readonly node?: string;
  readonly state?: string;
}

/** One entry, or the end of one. */
export interface Placed {
  readonly id: string;
  /** Unique, and larger than that of every earlier change. */
  readonly place: number;
  /** Undefined: the entry is gone. */
  readonly traits: Traits | undefined;
  /** The change before; undefined: there was none. */
  readonly before: Omit<Placed, 'before'> | undefined;
}

/** Places that were left are cleared away when there are more than this, and more than half of all. */
const MOST_LEFT = 1024;

/** How many ends are kept by default. A reader that is further behind begins anew. */
const MOST_ENDS = 10_000;

export class ChangeOrder {
  readonly #mostEnds: number;
  readonly #byId = new Map<string, Placed>();
  /** By place. It also holds what has another place now. */
  #order: Placed[] = [];
  /** Ends by place, from `#firstEnd` on. It also holds entries that came back. */
  #ends: Placed[] = [];
  #firstEnd = 0;
  #end = 0;
  #forgottenTo = 0;

  constructor(mostEnds: number = MOST_ENDS) {
    this.#mostEnds = mostEnds;
  }

  /** The place of the newest change; 0: there was none. */
  get end(): number {
    return this.#end;
  }

  /** False: ends after `place` are no longer known, so a reader there would keep what is gone. */
  holdsAllAfter(place: number): boolean {
    return place >= this.#forgottenTo && place <= this.#end;
  }

  traitsOf(id: string): Traits | undefined {
    return this.#byId.get(id)?.traits;
  }

  put(id: string, traits: Traits): void {
    this.#change(id, traits);
  }

  /** No change when there is no such entry. */
  remove(id: string): void {
    if (this.traitsOf(id) === undefined) return;
    const end = this.#change(id, undefined);
    this.#ends.push(end);
    if (this.#ends.length - this.#firstEnd > this.#mostEnds) this.#forgetFirstEnd();
  }

  /** The entries and ends behind `place`, up to `upTo`, in order. The order must not change meanwhile. */
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
    if (left > MOST_LEFT && left > this.#byId.size) this.#clear();
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

  #clear(): void {
    this.#order = this.#order.filter((placed) => this.#byId.get(placed.id) === placed);
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
