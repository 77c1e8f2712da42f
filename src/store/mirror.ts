/**
 * A typed copy of one key prefix in memory, kept by list and watch. Listeners and lookups (indexes) follow it;
 * lookups are updated before listeners run. Reconcilers and the API read mirrors, never the store. Writers wait
 * with `until(revision)` to read their own writes. A value that does not decode is set aside: readers do not see it as
 * an entry, and it stays in the store as it is.
 */
import { corruptStore, DroverError, storeClosed } from '../model/errors.js';
import { problemOf } from '../model/public-message.js';
import { Lookup, type LookupReader } from './lookup.js';
import { RevisionGate } from './revision-gate.js';
import type { Change, ChangeBatch, Entry, Store } from './store.js';

/** A value of the mirror with the store revision of its last change. */
export interface Mirrored<T> {
  readonly value: T;
  readonly revision: number;
}

/**
 * Called with a change of an entry. `id`: the key without the prefix. `before` undefined: the entry is new.
 * `after` undefined: it is gone, or set aside. Both undefined: a value that was set aside is gone, or is set
 * aside in the first list.
 */
export type MirrorListener<T> = (
  id: string,
  after: Mirrored<T> | undefined,
  before: Mirrored<T> | undefined,
) => void;

/** What readers may use. */
export type MirrorReader<T> = Omit<Mirror<T>, 'prefix' | 'start' | 'stop' | 'lookup'>;

export interface MirrorOptions<T> {
  readonly store: Store;
  readonly prefix: string;
  /**
   * Makes the typed value, for the first list and for every change. `known`: the value before the change.
   * Throws when the stored value cannot be decoded.
   */
  readonly decode: (value: unknown, known: T | undefined) => T;
  /** Called for each value that is set aside, in the first list and later. Default: an uncaught exception. */
  readonly onSetAside?: (id: string, aside: SetAside) => void;
  /** Called when a listener or the function of a lookup threw; all others still run. Default: an uncaught exception. */
  readonly onListenerError?: (error: unknown) => void;
}

interface Event<T> {
  readonly id: string;
  readonly revision: number;
  readonly after: Mirrored<T> | undefined;
  readonly before: Mirrored<T> | undefined;
}

type Index<T> = Pick<Lookup<T, unknown>, 'change'>;

/** Listeners hear of the first list, too: each of its entries comes as a new entry. */
export class Mirror<T> {
  /** Resolves when the first list is in. */
  readonly ready: Promise<void>;
  readonly #options: MirrorOptions<T>;
  readonly #entries = new Map<string, Mirrored<T>>();
  readonly #setAside = new Map<string, SetAside>();
  readonly #listeners = new Set<MirrorListener<T>>();
  readonly #lookups = new Set<Index<T>>();
  readonly #stopping = new AbortController();
  readonly #gate = new RevisionGate();
  readonly #onListenerError: (error: unknown) => void;
  #following: Promise<void> | undefined;

  constructor(options: MirrorOptions<T>) {
    this.#options = options;
    this.#onListenerError = options.onListenerError ?? throwUncaught;
    this.ready = this.#gate.until(0);
    // Ignore the rejection here: `start` reports the same error to its caller.
    this.ready.catch(() => {});
  }

  get prefix(): string {
    return this.#options.prefix;
  }

  get isReady(): boolean {
    return this.#gate.revision >= 0;
  }

  /** The store revision up to which this copy is complete for its prefix. Transactions of other prefixes advance it too. */
  get revision(): number {
    return Math.max(0, this.#gate.revision);
  }

  get size(): number {
    return this.#entries.size;
  }

  /** The values that do not decode, by id. They are no entries. */
  get setAside(): ReadonlyMap<string, SetAside> {
    return this.#setAside;
  }

  /**
   * Loads the first list and begins to watch. Called until it succeeds; resolves when the list is in. Throws what the
   * store throws.
   */
  async start(): Promise<void> {
    this.#following = this.#follow(await this.#list());
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

  /**
   * Calls `listener` for each change, in revision order, until `until` aborts. The copy and all lookups then
   * have the change already. Returns the function that unsubscribes.
   */
  onChange(listener: MirrorListener<T>, until?: AbortSignal): () => void {
    // A wrapper, so that a function given twice is subscribed twice.
    const subscription: MirrorListener<T> = (id, after, before) => listener(id, after, before);
    this.#listeners.add(subscription);
    const unsubscribe = (): void => void this.#listeners.delete(subscription);
    until?.addEventListener('abort', unsubscribe, { once: true });
    return unsubscribe;
  }

  /**
   * Resolves when the copy includes `revision` of the store, whatever keys it changed. Rejects when the mirror
   * stops.
   */
  until(revision: number): Promise<void> {
    return this.#gate.until(revision);
  }

  /** Groups ids by the keys of their values, from now on, until `until` aborts. `keysOf` is pure. */
  lookup<K>(keysOf: (value: T, id: string) => readonly K[], until?: AbortSignal): LookupReader<K> {
    const lookup = new Lookup(keysOf);
    for (const [id, { value }] of this.#entries) this.#index([lookup], id, undefined, value);
    this.#lookups.add(lookup);
    until?.addEventListener('abort', () => this.#lookups.delete(lookup), { once: true });
    return lookup;
  }

  async #follow(fromRevision: number): Promise<void> {
    const { store, prefix } = this.#options;
    let revision = fromRevision;
    try {
      while (!this.#stopping.signal.aborted)
        try {
          const batches = store.watch(prefix, revision, this.#stopping.signal);
          for await (const batch of batches) this.#take(batch);
          return;
        } catch (error) {
          if (!DroverError.is(error, 'DRV_STORE_HISTORY_GONE')) throw error;
          revision = await this.#list();
        }
    } catch (error) {
      this.#gate.end(error);
    } finally {
      this.#gate.end(this.#stopped());
    }
  }

  /**
   * Replaces the copy by the whole state, and reports the differences to listeners. Returns the revision of that
   * state.
   */
  async #list(): Promise<number> {
    const { entries, revision } = await this.#options.store.list(this.#options.prefix);
    if (this.#stopping.signal.aborted) throw this.#stopped();
    const missing = new Set([...this.#entries.keys(), ...this.#setAside.keys()]);
    const events: Event<T>[] = [];
    for (const entry of entries) {
      const id = this.#idOf(entry);
      missing.delete(id);
      const known = this.#entries.get(id) ?? this.#setAside.get(id);
      if (known?.revision !== entry.revision) this.#apply(entry, events);
    }
    events.sort((a, b) => a.revision - b.revision);
    const removals: Event<T>[] = [];
    for (const id of missing) this.#remove(id, revision, removals);
    this.#emit([...removals, ...events]);
    this.#gate.reach(revision);
    return revision;
  }

  /**
   * Applies all changes of a revision before it reports the first of them, so that listeners never see half
   * of a transaction.
   */
  #take(batch: ChangeBatch): void {
    let events: Event<T>[] = [];
    let revision = -1;
    for (const change of batch) {
      if (change.revision !== revision) {
        this.#emit(events);
        events = [];
        revision = change.revision;
      }
      this.#apply(change, events);
    }
    this.#emit(events);
    this.#gate.reach(batch.revision);
  }

  #apply(change: Change | Entry, events: Event<T>[]): void {
    const id = this.#idOf(change);
    const { revision } = change;
    if (change.value === undefined) {
      this.#remove(id, revision, events);
      return;
    }
    const before = this.#entries.get(id);
    let value: T;
    try {
      value = this.#options.decode(change.value, before?.value);
    } catch (error) {
      this.#remove(id, revision, events);
      const aside = { value: change.value, revision, problem: problemOf(error) };
      this.#setAside.set(id, aside);
      if (events.at(-1)?.id !== id) events.push({ id, revision, after: undefined, before: undefined });
      (this.#options.onSetAside ?? throwUncaughtProblem)(id, aside);
      return;
    }
    this.#setAside.delete(id);
    const after = { value, revision };
    this.#entries.set(id, after);
    this.#index(this.#lookups, id, before?.value, value);
    events.push({ id, revision, after, before });
  }

  #remove(id: string, revision: number, events: Event<T>[]): void {
    const before = this.#entries.get(id);
    if (!this.#setAside.delete(id) && before === undefined) return;
    this.#entries.delete(id);
    this.#index(this.#lookups, id, before?.value, undefined);
    events.push({ id, revision, after: undefined, before });
  }

  #index(lookups: Iterable<Index<T>>, id: string, before: T | undefined, after: T | undefined): void {
    for (const lookup of lookups)
      try {
        lookup.change(id, before, after);
      } catch (error) {
        this.#onListenerError(error);
      }
  }

  #emit(events: readonly Event<T>[]): void {
    for (const { id, after, before } of events)
      for (const listener of this.#listeners) {
        try {
          listener(id, after, before);
        } catch (error) {
          this.#onListenerError(error);
        }
      }
  }

  #idOf(entry: Change | Entry): string {
    return entry.key.slice(this.#options.prefix.length);
  }

  #stopped(): DroverError {
    return storeClosed(`the copy of ${this.#options.prefix} is stopped`);
  }
}

/** Throws as Node does for the error of an event listener: an error without a handler must not pass unseen. */
function throwUncaught(error: unknown): void {
  process.nextTick(() => {
    throw error;
  });
}

function throwUncaughtProblem(id: string, { problem }: SetAside): void {
  throwUncaught(corruptStore(`the stored value of ${id} is not valid: ${problem}`));
}

export interface SetAside {
  readonly value: unknown;
  readonly revision: number;
  /** The fault of the value, for a person. */
  readonly problem: string;
}
