/** An index over a mirror: ids grouped by keys that are computed from the value, kept up to date change by change. */
import { attempt } from '../model/plain/attempt.js';

/** What readers of an index may use. */
export type LookupReader<K> = Pick<Lookup<unknown, K>, 'get' | 'keys'>;

const NO_IDS: ReadonlySet<string> = new Set();

export class Lookup<T, K> {
  readonly #keysOf: (value: T, id: string) => readonly K[];
  readonly #groups = new Map<K, Set<string>>();

  constructor(keysOf: (value: T, id: string) => readonly K[]) {
    this.#keysOf = keysOf;
  }

  /** The live group: it changes with the mirror, so copy it before an await. */
  get(key: K): ReadonlySet<string> {
    return this.#groups.get(key) ?? NO_IDS;
  }

  /** The keys that have at least one id. */
  keys(): IterableIterator<K> {
    return this.#groups.keys();
  }

  /**
   * Called by the mirror. `before` undefined: the value is new. `after` undefined: the value is gone. When `keysOf`
   * throws for `after`, the id is in no group, and the error is passed on.
   */
  change(id: string, before: T | undefined, after: T | undefined): void {
    const left = before === undefined ? [] : this.#keysBefore(id, before);
    let entered: readonly K[] = [];
    try {
      if (after !== undefined) entered = this.#keysOf(after, id);
    } finally {
      // Do nothing when the groups are the same, as for most changes of a value.
      if (!isSame(left, entered)) {
        for (const key of left) if (!entered.includes(key)) this.#leave(key, id);
        for (const key of entered) this.#enter(key, id);
      }
    }
  }

  /** The groups of the earlier value: `keysOf` is pure, so it answers as it did then. */
  #keysBefore(id: string, value: T): readonly K[] {
    return attempt(() => this.#keysOf(value, id), []);
  }

  #enter(key: K, id: string): void {
    this.#groups.set(key, (this.#groups.get(key) ?? new Set()).add(id));
  }

  #leave(key: K, id: string): void {
    const group = this.#groups.get(key);
    group?.delete(id);
    if (group?.size === 0) this.#groups.delete(key);
  }
}

function isSame(a: readonly unknown[], b: readonly unknown[]): boolean {
  return a.length === b.length && a.every((key, index) => key === b[index]);
}
