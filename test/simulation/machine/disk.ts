/**
 * The disk of a machine, which outlives its daemons, and the store that one daemon has on it. Table and watch are
 * real. Writes take time and fail when the disk is full; when the daemon dies, each is there whole or not at all.
 */
import { DroverError } from '../../../src/model/errors.js';
import { EmbeddedStore } from '../../../src/store/embedded-store.js';
import { type Accepted, KeyTable } from '../../../src/store/key-table.js';
import type { Entry } from '../../../src/store/store.js';
import { ChangeHistory } from '../../../src/store/watch.js';
import type { Life } from './life.js';

/** One durable change; `before` and `after` undefined: the key is not there. */
export interface Committed {
  readonly key: string;
  readonly after: unknown;
  readonly before: unknown;
}

/** Told of each transaction when all of it stands. */
export type CommitListener = (changes: readonly Committed[]) => void;

export class Disk {
  /** Virtual time until which every write failed; infinite: they fail now. */
  fullUntil = Number.NEGATIVE_INFINITY;
  /** A write takes up to this long. */
  latencyMs = 2;
  /** Transactions that reached it. */
  commits = 0;
  readonly #entries = new Map<string, Entry>();
  readonly #listeners: CommitListener[] = [];
  #revision = 0;

  /** What is durable. */
  get entries(): ReadonlyMap<string, Entry> {
    return this.#entries;
  }

  get revision(): number {
    return this.#revision;
  }

  onCommit(listener: CommitListener): void {
    this.#listeners.push(listener);
  }

  /** All of it or nothing, as one instant. */
  commit(group: readonly Accepted[]): void {
    if (this.fullUntil === Number.POSITIVE_INFINITY)
      throw new DroverError('DRV_STORE_WRITE_FAILED', 'the disk is full');
    this.commits++;
    for (const { changes, texts, revision } of group) {
      this.#revision = revision;
      const committed = changes.map(({ key }, index): Committed => {
        const before = this.#entries.get(key)?.value;
        const text = texts[index];
        // As a file does, it keeps bytes and no reference to what somebody may still change.
        const after: unknown = text === undefined ? undefined : JSON.parse(text);
        if (after === undefined) this.#entries.delete(key);
        else this.#entries.set(key, { key, value: after, revision });
        return { key, after, before };
      });
      for (const listener of this.#listeners) listener(committed);
    }
  }
}

/** The store of one daemon, opened on what its disk holds. */
export class DiskStore extends EmbeddedStore {
  readonly #disk: Disk;
  readonly #life: Life;

  constructor(disk: Disk, life: Life) {
    super(new KeyTable(new Map(disk.entries), disk.revision), new ChangeHistory(disk.revision));
    this.#disk = disk;
    this.#life = life;
  }

  protected write(group: readonly Accepted[]): Promise<void> {
    const ms = this.#life.random.between(0.05, this.#disk.latencyMs);
    return this.#life.request('a store write', ms, () => this.#disk.commit(group));
  }

  protected async release(): Promise<void> {}
}
