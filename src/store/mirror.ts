/**
 * A typed in-memory copy of one key prefix, kept by list + watch, with listeners and lookups (indexes) that are
 * updated before listeners run. Reconcilers and the API read here, never from the store. Writers wait with
 * `until(revision)` to read their own writes.
 */
import { DroverError, messageOf } from '../model/errors.js';
import { Lookup, type LookupReader } from './lookup.js';
import { RevisionGate } from './revision-gate.js';
import type { Change, ChangeBatch, Entry, Store } from './store.js';

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
  /** Store revision up to which this copy is complete for its prefix; transactions of other prefixes advance it too. */
  readonly revision: number;
  readonly size: number;
  get(id: string): Mirrored<T> | undefined;
  entries(): IterableIterator<[string, Mirrored<T>]>;
  /** Called after the copy and all lookups took the change, in revision order. Returns the function that unsubscribes. */
  onChange(listener: MirrorListener<T>): () => void;
  /** Resolves when the copy includes `revision` of the store, whatever it touched; rejects when the mirror stops. */
  until(revision: number): Promise<void>;
}

export interface MirrorOptions<T> {
  readonly store: Store;
  readonly prefix: string;
  /** Makes the typed value, of the first list and of every change; throws when it cannot. */
  readonly decode: (value: unknown) => T;
  /**
   * A change after the first list did not decode: the copy goes on with the value that it had, or without the id.
   * Default: an uncaught exception. Within the first list it makes `start` reject.
   */
  readonly onDecodeError?: (id: string, error: unknown) => void;
  /** A listener or a lookup's function threw; nothing else is disturbed. Default: an uncaught exception. */
  readonly onListenerError?: (error: unknown) => void;
}

interface Event<T> {
  readonly id: string;
  readonly revision: number;
  readonly after: Mirrored<T> | undefined;
  readonly before: Mirrored<T> | undefined;
}

/** The one implementation. Listeners also hear the first list: each entry as a change from nothing. */
export class Mirror<T> implements MirrorReader<T> {
  readonly ready: Promise<void>;
  readonly #options: MirrorOptions<T>;
  readonly #entries = new Map<string, Mirrored<T>>();
  readonly #listeners = new Set<MirrorListener<T>>();
  readonly #lookups: Pick<Lookup<T, unknown>, 'put' | 'drop'>[] = [];
  readonly #stopping = new AbortController();
  readonly #gate = new RevisionGate();
  readonly #onListenerError: (error: unknown) => void;
  #following: Promise<void> | undefined;

  constructor(options: MirrorOptions<T>) {
    this.#options = options;
    this.#onListenerError = options.onListenerError ?? throwUncaught;
    this.ready = this.#gate.until(0);
    // `start` says the same to somebody who listens.
    this.ready.catch(() => {});
  }

  get isReady(): boolean {
    return this.#gate.revision >= 0;
  }

  get revision(): number {
    return Math.max(0, this.#gate.revision);
  }

  get size(): number {
    return this.#entries.size;
  }

  /** Called once. Resolves when the first list is in; throws what the store throws, and DRV_STORE_CORRUPT for a value that does not decode. */
  async start(): Promise<void> {
    try {
      const revision = await this.#list(refuse);
      this.#following = this.#follow(revision);
    } catch (error) {
      this.#gate.end(error);
      throw error;
    }
  }

  /** Idempotent. The copy stays readable as it was. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#gate.end(this.#stopped());
    await this.#following;
  }

  get(id: string): Mirrored<T> | undefined {
    return this.#entries.get(id);
  }

  entries(): IterableIterator<[string, Mirrored<T>]> {
    return this.#entries.entries();
  }

  onChange(listener: MirrorListener<T>): () => void {
    // Wrapped, so that one function given twice is two subscriptions.
    const subscription: MirrorListener<T> = (id, after, before) => listener(id, after, before);
    this.#listeners.add(subscription);
    return () => this.#listeners.delete(subscription);
  }

  until(revision: number): Promise<void> {
    return this.#gate.until(revision);
  }

  /** Groups ids by the keys of their values, from now on. `keysOf` is pure. Lookups live as long as the mirror. */
  lookup<K>(keysOf: (value: T, id: string) => Iterable<K>): LookupReader<K> {
    const lookup = new Lookup(keysOf);
    for (const [id, { value }] of this.#entries) this.#guard(() => lookup.put(id, value));
    this.#lookups.push(lookup);
    return lookup;
  }

  async #follow(fromRevision: number): Promise<void> {
    const { store, prefix, onDecodeError = throwUncaughtDecode } = this.#options;
    let revision = fromRevision;
    try {
      while (!this.#stopping.signal.aborted) {
        try {
          const batches = store.watch(prefix, revision, this.#stopping.signal);
          for await (const batch of batches) this.#take(batch, onDecodeError);
          return;
        } catch (error) {
          if (!DroverError.is(error, 'DRV_STORE_HISTORY_GONE')) throw error;
          revision = await this.#list(onDecodeError);
        }
      }
    } catch (error) {
      this.#gate.end(error);
    } finally {
      this.#gate.end(this.#stopped());
    }
  }

  /** Takes the whole state and tells the differences. Returns its revision. */
  async #list(onDecodeError: (id: string, error: unknown) => void): Promise<number> {
    const { entries, revision } = await this.#options.store.list(this.#options.prefix);
    if (this.#stopping.signal.aborted) throw this.#stopped();
    const missing = new Set(this.#entries.keys());
    const events: Event<T>[] = [];
    for (const entry of entries) {
      const id = this.#idOf(entry);
      missing.delete(id);
      if (this.#entries.get(id)?.revision !== entry.revision) this.#apply(entry, events, onDecodeError);
    }
    events.sort((a, b) => a.revision - b.revision);
    const removals: Event<T>[] = [];
    for (const id of missing) this.#remove(id, revision, removals);
    this.#emit([...removals, ...events]);
    this.#gate.reach(revision);
    return revision;
  }

  /** Listeners never see half of a transaction: all changes of a revision are applied before the first is told. */
  #take(batch: ChangeBatch, onDecodeError: (id: string, error: unknown) => void): void {
    let events: Event<T>[] = [];
    let revision = -1;
    for (const change of batch) {
      if (change.revision !== revision) {
        this.#emit(events);
        events = [];
        revision = change.revision;
      }
      this.#apply(change, events, onDecodeError);
    }
    this.#emit(events);
    this.#gate.reach(batch.revision);
  }

  #apply(
    change: Change | Entry,
    events: Event<T>[],
    onDecodeError: (id: string, error: unknown) => void,
  ): void {
    const id = this.#idOf(change);
    const { revision } = change;
    if (change.value === undefined) {
      this.#remove(id, revision, events);
      return;
    }
    let value: T;
    try {
      value = this.#options.decode(change.value);
    } catch (error) {
      onDecodeError(id, error);
      return;
    }
    const before = this.#entries.get(id);
    const after = { value, revision };
    this.#entries.set(id, after);
    for (const lookup of this.#lookups) this.#guard(() => lookup.put(id, value));
    events.push({ id, revision, after, before });
  }

  #remove(id: string, revision: number, events: Event<T>[]): void {
    const before = this.#entries.get(id);
    if (before === undefined) return;
    this.#entries.delete(id);
    for (const lookup of this.#lookups) lookup.drop(id);
    events.push({ id, revision, after: undefined, before });
  }

  #emit(events: readonly Event<T>[]): void {
    for (const { id, after, before } of events) {
      for (const listener of this.#listeners) this.#guard(() => listener(id, after, before));
    }
  }

  #guard(call: () => void): void {
    try {
      call();
    } catch (error) {
      this.#onListenerError(error);
    }
  }

  #idOf(entry: Change | Entry): string {
    return entry.key.slice(this.#options.prefix.length);
  }

  #stopped(): DroverError {
    return new DroverError('DRV_STORE_CLOSED', `the copy of ${this.#options.prefix} is stopped`);
  }
}

function refuse(id: string, error: unknown): never {
  throw new DroverError('DRV_STORE_CORRUPT', `the stored value of ${id} is not valid: ${messageOf(error)}`, {
    cause: error,
  });
}

/** As Node does for event listeners: an error that nobody handles must not pass unseen. */
function throwUncaught(error: unknown): void {
  process.nextTick(() => {
    throw error;
  });
}

function throwUncaughtDecode(_id: string, error: unknown): void {
  throwUncaught(error);
}
