/**
 * The common part of every embedded store. It checks transactions in memory, commits them in groups by `write`, and
 * only then shows them to readers and watchers. A backend says how a group reaches the disk.
 */
import { storeClosed, storeWriteFailed } from '../model/errors.js';
import type { Accepted, KeyTable } from './key-table.js';
import type { ChangeBatch, Entry, Operation, Store } from './store.js';
import type { ChangeHistory } from './watch.js';

/** At most this many transactions wait for the disk; the store refuses the next one. */
const MAX_WAITING = 100_000;

interface Waiting {
  readonly accepted: Accepted;
  /** Called when the transaction, and every transaction called before it, is durable. */
  readonly succeed: () => void;
  /** Called when the write failed; the table is then as it was before. */
  readonly fail: (error: unknown) => void;
}

/** The last change of a key in a group. */
interface LastText {
  readonly revision: number;
  readonly text: string | undefined;
}

interface GroupSum {
  readonly texts: ReadonlyMap<string, LastText>;
  /** The entries of the store. */
  readonly entries: number;
  readonly revision: number;
}

/** Called with the seconds from each `transact` until it was durable. */
export type WriteObserver = (seconds: number) => void;

export abstract class EmbeddedStore implements Store {
  protected readonly table: KeyTable;
  readonly #history: ChangeHistory;
  readonly #onWrite: WriteObserver | undefined;
  #waiting: Waiting[] = [];
  #committing: Promise<void> | undefined;
  #closing: Promise<void> | undefined;

  protected constructor(table: KeyTable, history: ChangeHistory, onWrite?: WriteObserver) {
    this.table = table;
    this.#history = history;
    this.#onWrite = onWrite;
  }

  /**
   * Makes a group durable, all or nothing. The store calls it again only after its promise has settled.
   * Throws DRV_STORE_WRITE_FAILED.
   */
  protected abstract write(group: readonly Accepted[]): Promise<void>;

  /** Releases files and locks, after the last `write`. */
  protected abstract release(): Promise<void>;

  /** Throws an error with the reason when no transaction can be accepted now. */
  protected checkWritable(): void {}

  /** The number of waiting transactions that form the next group: at least 1. */
  protected sizeOfGroup(waiting: readonly { readonly accepted: Accepted }[]): number {
    return waiting.length;
  }

  /**
   * The size and revision of the store after a group, and the last text of each changed key (undefined: the key is
   * removed).
   */
  protected sumOf(group: readonly Accepted[]): GroupSum {
    const texts = new Map<string, LastText>();
    let entries = this.table.size;
    let revision = this.table.revision;
    for (const accepted of group) {
      revision = accepted.revision;
      accepted.changes.forEach(({ key }, index) => {
        const text = accepted.texts[index];
        const before = texts.has(key)
          ? texts.get(key)?.text !== undefined
          : this.table.get(key) !== undefined;
        entries += Number(text !== undefined) - Number(before);
        texts.set(key, { revision, text });
      });
    }
    return { texts, entries, revision };
  }

  /**
   * Shows a group whose write seemed to fail but is durable, or a group that another master has written. Call
   * it only when no transaction was accepted since.
   */
  protected settleLate(group: readonly Accepted[]): void {
    this.#show(group);
    this.table.rollBack();
  }

  /** Resolves when no write is under way. */
  protected async untilWritten(): Promise<void> {
    await this.#committing;
  }

  async get(key: string): Promise<Entry | undefined> {
    this.#checkOpen();
    return this.table.get(key);
  }

  async list(prefix: string): Promise<{ entries: readonly Entry[]; revision: number }> {
    this.#checkOpen();
    return { entries: this.table.list(prefix), revision: this.table.revision };
  }

  transact(operations: readonly Operation[]): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#checkOpen();
      if (this.#waiting.length >= MAX_WAITING)
        throw storeWriteFailed(`${MAX_WAITING} writes wait for the disk; try again later`);
      this.checkWritable();
      const accepted = this.table.accept(operations);
      const calledAt = performance.now();
      const succeed = (): void => {
        resolve(accepted.revision);
        this.#onWrite?.((performance.now() - calledAt) / 1000);
      };
      this.#enqueue({ accepted, succeed, fail: reject });
    });
  }

  barrier(): Promise<number> {
    return new Promise((resolve) => {
      this.#checkOpen();
      const settle = (): void => resolve(this.table.revision);
      this.#enqueue({ accepted: this.table.latest, succeed: settle, fail: settle });
    });
  }

  watch(prefix: string, fromRevision: number, signal: AbortSignal): AsyncIterable<ChangeBatch> {
    this.#checkOpen();
    return this.#history.watch(prefix, fromRevision, signal);
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    await this.#committing;
    this.#history.close();
    await this.release();
  }

  #checkOpen(): void {
    if (this.#closing !== undefined) throw storeClosed('the store is closed');
  }

  #enqueue(waiting: Waiting): void {
    this.#waiting.push(waiting);
    this.#committing ??= this.#commitAll();
  }

  /**
   * Commits groups until nothing waits. Transactions that are called during one group's write become the next
   * group.
   */
  async #commitAll(): Promise<void> {
    // All transactions that are called in this turn join the first group.
    await undefined;
    while (this.#waiting.length > 0) {
      const group = this.#waiting.splice(0, this.sizeOfGroup(this.#waiting));
      const accepted = group.map((waiting) => waiting.accepted);
      const changing = accepted.filter(({ changes }) => changes.length > 0);
      try {
        if (changing.length > 0) await this.write(changing);
      } catch (error) {
        this.#fail(group, error);
        continue;
      }
      this.#show(accepted);
      for (const { succeed } of group) succeed();
    }
    this.#committing = undefined;
  }

  /** Shows durable transactions to readers and watchers. */
  #show(group: readonly Accepted[]): void {
    for (const accepted of group) {
      this.table.settle(accepted);
      for (const change of accepted.changes) this.#history.append(change);
    }
    this.#history.publish(this.table.revision);
  }

  /**
   * Fails the group, and every transaction called since, because those were checked on top of the group's
   * changes.
   */
  #fail(group: readonly Waiting[], error: unknown): void {
    const later = this.#waiting;
    this.#waiting = [];
    this.table.rollBack();
    for (const { fail } of [...group, ...later]) fail(error);
  }
}
