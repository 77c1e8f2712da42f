/**
 * A typed in-memory copy of one key prefix, kept by list + watch, with listeners and lookups (indexes) that are
 * updated before listeners run. Reconcilers and the API read here, never from the store. Writers wait with
 * `until(revision)` to read their own writes.
 */

/** A value of the mirror with the store revision of its last change. */
export interface Mirrored<T> {
  readonly value: T;
  readonly revision: number;
}

/** `id` is the key without the prefix. `before`/`after` undefined: it did not exist / does not exist any more. */
export type MirrorListener<T> = (
  id: string,
  after: Mirrored<T> | undefined,
  before: Mirrored<T> | undefined,
) => void;

/** What readers may use; `Mirror` implements it. */
export interface MirrorReader<T> {
  /** Resolves when the first list is in. */
  readonly ready: Promise<void>;
  readonly isReady: boolean;
  /** Store revision up to which this copy is complete for its prefix. */
  readonly revision: number;
  readonly size: number;
  get(id: string): Mirrored<T> | undefined;
  entries(): IterableIterator<[string, Mirrored<T>]>;
  /** Called after the copy and all lookups took the change, in revision order. Returns the function that unsubscribes. */
  onChange(listener: MirrorListener<T>): () => void;
  /** Resolves when the copy includes `revision` (of a write to this prefix); rejects when the mirror stops. */
  until(revision: number): Promise<void>;
}

/** Ids grouped by a key that is computed from the value; kept up to date by the mirror. */
export interface LookupReader<K> {
  get(key: K): ReadonlySet<string>;
  keys(): IterableIterator<K>;
}
