/** The records of a view: checks that they are still as the decision saw them, and writes them through the door. */
import { Conflict } from '../loop/reconciler.js';
import type { Mirrored, MirrorReader, SetAside } from '../store/mirror.js';
import { untilShown } from '../store/modify.js';
import type { Store } from '../store/store.js';
import type { Contents, RecordDoor, RemovalThere } from './view.js';

interface Removal {
  readonly do: 'remove';
  readonly name: string;
  readonly expectedRevision: number;
}

interface RecordSideOptions<Value, Edit> {
  readonly records: MirrorReader<Value>;
  /** The hash of a record's content. */
  readonly hashOf: (value: Value) => string;
  /** The hash of an unreadable record that may be overwritten. Absent: an unreadable record counts as no content. */
  readonly hashOfAside?: (aside: SetAside) => string;
  /** Other contents than the records have, such as those of files under overrides. Default: none. */
  readonly besides?: {
    names(): Iterable<string>;
    /** The content; null: the name has none, whatever its record has; undefined: the record's content counts. */
    hashOf(name: string): string | null | undefined;
  };
  readonly store: Store;
  readonly door: RecordDoor<Edit | Removal>;
  /** Cuts edits into transactions, in order. */
  readonly inTransactions: (edits: readonly (Edit | Removal)[]) => Iterable<readonly (Edit | Removal)[]>;
}

export class RecordSide<Value, Edit> implements Contents {
  readonly #options: RecordSideOptions<Value, Edit>;

  constructor(options: RecordSideOptions<Value, Edit>) {
    this.#options = options;
  }

  get size(): number {
    return this.#options.records.size + this.#aside.size;
  }

  get(name: string): string | undefined {
    const { records, hashOf, hashOfAside, besides } = this.#options;
    const other = besides?.hashOf(name);
    if (other !== undefined) return other ?? undefined;
    const record = records.get(name);
    if (record !== undefined) return hashOf(record.value);
    const aside = this.#aside.get(name);
    return aside && hashOfAside?.(aside);
  }

  *keys(): Generator<string> {
    for (const [name] of this.#options.records.entries()) yield name;
    yield* this.#aside.keys();
    yield* this.#options.besides?.names() ?? [];
  }

  /** Throws `Conflict` unless the record has this content. */
  recordWith(name: string, hash: string): Mirrored<Value> {
    const { records, hashOf } = this.#options;
    const record = records.get(name);
    if (record === undefined || hashOf(record.value) !== hash) throw hasChanged(name);
    return record;
  }

  /** The revision of the record if it has this content; 0: none exists, as expected. Throws `Conflict` otherwise. */
  revisionOf(name: string, expected: string | undefined): number {
    if (this.get(name) !== expected) throw hasChanged(name);
    return this.#options.records.get(name)?.revision ?? this.#aside.get(name)?.revision ?? 0;
  }

  async remove(removals: readonly RemovalThere[]): Promise<void> {
    await this.write(
      removals.map(({ name, expected }) => ({
        do: 'remove',
        name,
        expectedRevision: this.revisionOf(name, expected),
      })),
    );
  }

  /** Resolves when the mirror shows the edits. */
  async write(edits: readonly (Edit | Removal)[]): Promise<void> {
    const { door, records, store, inTransactions } = this.#options;
    try {
      for (const some of inTransactions(edits)) await records.until(await door.write(some));
    } catch (error) {
      // After a conflict, wait for the other writer's record, so that the next round decides by it.
      await untilShown(store, records).catch(() => undefined);
      throw error;
    }
  }

  get #aside(): ReadonlyMap<string, SetAside> {
    const { records, hashOfAside } = this.#options;
    return hashOfAside === undefined ? NONE : records.setAside;
  }
}

const NONE: ReadonlyMap<string, SetAside> = new Map();

function hasChanged(name: string): Conflict {
  return new Conflict(`${name} has another content in the state now`);
}
