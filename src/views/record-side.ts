/** The records of a view: what was decided is looked at again, and written through the door. */
import { Conflict } from '../loop/reconciler.js';
import type { Mirrored, MirrorReader } from '../store/mirror.js';
import { untilShown } from '../store/modify.js';
import type { Store } from '../store/store.js';
import type { RemovalThere } from './plan.js';
import type { RecordDoor } from './record-door.js';

interface Removal {
  readonly do: 'remove';
  readonly name: string;
  readonly expectedRevision: number;
}

export interface RecordSideOptions<Value, Edit> {
  readonly records: MirrorReader<Value>;
  /** Of a record's content. */
  readonly hashOf: (value: Value) => string;
  readonly store: Store;
  readonly door: RecordDoor<Edit | Removal>;
  /** Cuts edits into transactions, in order. */
  readonly inTransactions: (edits: readonly (Edit | Removal)[]) => Iterable<readonly (Edit | Removal)[]>;
}

export class RecordSide<Value, Edit> {
  readonly #options: RecordSideOptions<Value, Edit>;

  constructor(options: RecordSideOptions<Value, Edit>) {
    this.#options = options;
  }

  /** By name, the hash of what the state says. */
  hashes(): ReadonlyMap<string, string> {
    const { records, hashOf } = this.#options;
    return new Map([...records.entries()].map(([name, { value }]) => [name, hashOf(value)]));
  }

  /** Throws `Conflict` unless the record has this content. */
  recordWith(name: string, hash: string): Mirrored<Value> {
    const { records, hashOf } = this.#options;
    const record = records.get(name);
    if (record === undefined || hashOf(record.value) !== hash)
      throw new Conflict(`${name} has another content in the state now`);
    return record;
  }

  /** Of the record with this content; 0: there is none, as expected. Throws `Conflict`. */
  revisionOf(name: string, expected: string | undefined): number {
    if (expected !== undefined) return this.recordWith(name, expected).revision;
    if (this.#options.records.get(name) !== undefined) throw new Conflict(`${name} is in the state now`);
    return 0;
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
      // The next round decides with the record of the writer that was faster.
      await untilShown(store, records).catch(() => undefined);
      throw error;
    }
  }
}
