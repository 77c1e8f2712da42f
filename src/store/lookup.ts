/** An index over a mirror: ids grouped by keys that are computed from the value, kept up to date change by change. */

/** What readers of an index may use; `Lookup` implements it. */
export interface LookupReader<K> {
  /** The live group: it changes with the mirror, so copy it before an await. */
  get(key: K): ReadonlySet<string>;
  /** The keys that have at least one id. */
  keys(): IterableIterator<K>;
}

const NO_IDS: ReadonlySet<string> = new Set();

export class Lookup<T, K> implements LookupReader<K> {
  readonly #keysOf: (value: T, id: string) => Iterable<K>;
  readonly #groups = new Map<K, Set<string>>();
  readonly #keysById = new Map<string, readonly K[]>();

  constructor(keysOf: (value: T, id: string) => Iterable<K>) {
    this.#keysOf = keysOf;
  }

  get(key: K): ReadonlySet<string> {
    return this.#groups.get(key) ?? NO_IDS;
  }

  keys(): IterableIterator<K> {
    return this.#groups.keys();
  }

  /** Called by the mirror. When `keysOf` throws, the id is in no group, and the error is passed on. */
  put(id: string, value: T): void {
    let keys: readonly K[] = [];
    try {
      keys = [...this.#keysOf(value, id)];
    } finally {
      this.#replace(id, keys);
    }
  }

  /** Called by the mirror. */
  drop(id: string): void {
    this.#replace(id, []);
  }

  #replace(id: string, keys: readonly K[]): void {
    const before = this.#keysById.get(id) ?? [];
    // Most changes of a value leave its groups as they are.
    if (before.length === keys.length && before.every((key, index) => key === keys[index])) return;
    for (const key of before) if (!keys.includes(key)) this.#leave(key, id);
    for (const key of keys) this.#enter(key, id);
    if (keys.length > 0) this.#keysById.set(id, keys);
    else this.#keysById.delete(id);
  }

  #enter(key: K, id: string): void {
    const group = this.#groups.get(key);
    if (group === undefined) this.#groups.set(key, new Set([id]));
    else group.add(id);
  }

  #leave(key: K, id: string): void {
    const group = this.#groups.get(key);
    group?.delete(id);
    if (group?.size === 0) this.#groups.delete(key);
  }
}
