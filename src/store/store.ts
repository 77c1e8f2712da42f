/**
 * The small ordered key-value store under everything durable. Implementations (memory, lmdb, etcd) pass one
 * contract suite (test/contract/store-contract.ts); nothing above src/store knows which one it has.
 */

/** A stored value with the revision of its last change. Values are plain JSON data and must not be mutated. */
export interface Entry {
  readonly key: string;
  readonly value: unknown;
  readonly revision: number;
}

/** A whole store at a revision, in key order. */
export interface StoreState {
  readonly entries: readonly Entry[];
  readonly revision: number;
}

/** One durable change. Changes of one transaction share a revision. */
export interface Change {
  readonly revision: number;
  readonly key: string;
  /** The new value; undefined: the key was removed. */
  readonly value: unknown;
}

/**
 * One batch of a watch: changes of its keys, in order and complete up to `revision`. It is empty when the
 * transactions since the last batch changed other keys only.
 */
export interface ChangeBatch extends ReadonlyArray<Change> {
  readonly revision: number;
}

/**
 * The most operations of one transaction. Larger work is cut into steps (`inSteps`), and may end after any of these
 * steps.
 */
export const MAX_OPERATIONS = 100;

/** One operation of a transaction. A transaction names a key at most once. */
export type Operation =
  /** Fails with DRV_STORE_CONFLICT when the key exists. */
  | { readonly do: 'create'; readonly key: string; readonly value: unknown }
  /** Fails with DRV_STORE_CONFLICT unless the key's revision is `expectedRevision`. */
  | {
      readonly do: 'update';
      readonly key: string;
      readonly value: unknown;
      readonly expectedRevision: number;
    }
  /** Writes, whether or not the key exists. */
  | { readonly do: 'put'; readonly key: string; readonly value: unknown }
  /**
   * Fails with DRV_STORE_CONFLICT when `expectedRevision` is given and differs. When it is absent, removing a missing key
   * changes nothing.
   */
  | { readonly do: 'remove'; readonly key: string; readonly expectedRevision?: number }
  /**
   * Changes nothing. Fails with DRV_STORE_CONFLICT unless the key's revision is `expectedRevision` (0: must not
   * exist).
   */
  | { readonly do: 'check'; readonly key: string; readonly expectedRevision: number };

export interface Store {
  get(key: string): Promise<Entry | undefined>;

  /**
   * Returns all entries whose key starts with `prefix`, in key order, as one consistent state. `revision` is
   * that of the last durable change, 0 for a new store. It only grows, even over restarts.
   */
  list(prefix: string): Promise<StoreState>;

  /**
   * Applies all operations (1 to MAX_OPERATIONS) or none. Resolves with the new revision once they are on disk
   * (fsync); concurrent calls are committed together. Conflicts are checked against all transactions called before.
   * Throws:
   * - DRV_STORE_CONFLICT: the message names the key;
   * - DRV_STORE_WRITE_FAILED: disk full and the like, nothing was applied;
   * - DRV_STORE_UNAVAILABLE: etcd does not answer, and it may have been applied;
   * - DRV_NOT_LEADER: another master writes; the message says when it may have been applied;
   * - DRV_STORE_CLOSED;
   * - DRV_INTERNAL: the transaction is malformed.
   */
  transact(operations: readonly Operation[]): Promise<number>;

  /**
   * Resolves when every transaction called before is durable or has failed, with a revision that includes the
   * durable ones. A read or mirror at that revision shows the write that won a conflict. Changes nothing.
   * Failed transactions do not make it fail. Throws DRV_STORE_CLOSED.
   */
  barrier(): Promise<number>;

  /**
   * Yields every change of keys under `prefix` after `fromRevision`: once, in order, in batches, each after it is
   * durable. The subscription begins at the call, not at the first `next`. It ends when `signal` aborts or the
   * store closes. Throws DRV_STORE_HISTORY_GONE when the store no longer holds all changes after `fromRevision`;
   * the caller then lists again.
   */
  watch(prefix: string, fromRevision: number, signal: AbortSignal): AsyncIterable<ChangeBatch>;

  /** Flushes, and releases files and locks. Idempotent; every later call throws DRV_STORE_CLOSED. */
  close(): Promise<void>;
}

/** Creates one key and resolves with its revision. Throws DRV_STORE_CONFLICT when it exists. */
export function create(store: Pick<Store, 'transact'>, key: string, value: unknown): Promise<number> {
  return store.transact([{ do: 'create', key, value }]);
}

/** Compare-and-set of one key. Resolves with its new revision; throws DRV_STORE_CONFLICT when it changed. */
export function update(store: Store, key: string, value: unknown, expectedRevision: number): Promise<number> {
  return store.transact([{ do: 'update', key, value, expectedRevision }]);
}
