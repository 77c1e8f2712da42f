/**
 * The keys of a store in memory, in two layers. The lower one is durable; the upper one was accepted and is on its
 * way to the disk. The table finds conflicts at call time, against both layers; readers see the durable one only.
 */
import { DroverError, internalError, messageOf } from '../model/errors.js';
import type { Change, Entry, Operation } from './store.js';
import { checkTransaction } from './transaction.js';

/** An accepted transaction. A transaction without changes has the revision of the transaction before it. */
export interface Accepted {
  readonly revision: number;
  readonly changes: readonly Change[];
  /** The JSON text of each change's value; undefined for a removal. */
  readonly texts: readonly (string | undefined)[];
}

export class KeyTable {
  readonly #durable: Map<string, Entry>;
  /** The latest accepted change of each key that is on its way to the disk. */
  readonly #pending = new Map<string, Change>();
  #durableRevision: number;
  #acceptedRevision: number;

  constructor(entries: Map<string, Entry>, revision: number) {
    this.#durable = entries;
    this.#durableRevision = revision;
    this.#acceptedRevision = revision;
  }

  /** The revision of the last durable change. */
  get revision(): number {
    return this.#durableRevision;
  }

  /** An accepted transaction without operations: it waits for all that were accepted before. */
  get latest(): Accepted {
    return { revision: this.#acceptedRevision, changes: [], texts: [] };
  }

  /** Number of durable entries. */
  get size(): number {
    return this.#durable.size;
  }

  get(key: string): Entry | undefined {
    return this.#durable.get(key);
  }

  /** Durable entries under `prefix` in key order. */
  list(prefix: string): Entry[] {
    const entries: Entry[] = [];
    for (const entry of this.#durable.values()) if (entry.key.startsWith(prefix)) entries.push(entry);
    return entries.sort((a, b) => (a.key < b.key ? -1 : 1));
  }

  /**
   * Accepts a whole transaction. Throws DRV_STORE_CONFLICT, or DRV_INTERNAL for a malformed one; then nothing of it
   * stands.
   */
  accept(operations: readonly Operation[]): Accepted {
    checkTransaction(operations);
    const next = this.#acceptedRevision + 1;
    const changes: Change[] = [];
    const texts: (string | undefined)[] = [];
    for (const operation of operations) {
      if (!this.#isChange(operation)) continue;
      const value = 'value' in operation ? operation.value : undefined;
      texts.push('value' in operation ? jsonOf(operation.key, value) : undefined);
      changes.push({ revision: next, key: operation.key, value });
    }
    if (changes.length === 0) return this.latest;
    for (const change of changes) this.#pending.set(change.key, change);
    this.#acceptedRevision = next;
    return { revision: next, changes, texts };
  }

  /**
   * Makes the changes of a transaction durable in this table. Call it when the transaction is on disk, in the
   * order of `accept`.
   */
  settle(accepted: Accepted): void {
    for (const change of accepted.changes) {
      if (change.value === undefined) this.#durable.delete(change.key);
      else this.#durable.set(change.key, change);
      if (this.#pending.get(change.key) === change) this.#pending.delete(change.key);
    }
    // A transaction without changes may have an older revision, when another master has written meanwhile.
    this.#durableRevision = Math.max(this.#durableRevision, accepted.revision);
  }

  /** Forgets everything that is not durable. */
  rollBack(): void {
    this.#pending.clear();
    this.#acceptedRevision = this.#durableRevision;
  }

  /** Throws when the operation conflicts. Returns false when it changes nothing. */
  #isChange(operation: Operation): boolean {
    const { key } = operation;
    const revision = this.#acceptedRevisionOf(key);
    switch (operation.do) {
      case 'create':
        if (revision !== 0) throw conflict(key, `exists already (revision ${revision})`);
        return true;
      case 'put':
        return true;
      case 'update':
        expectRevision(key, revision, operation.expectedRevision);
        return true;
      case 'remove':
        if (operation.expectedRevision !== undefined)
          expectRevision(key, revision, operation.expectedRevision);
        return revision !== 0;
      case 'check':
        expectRevision(key, revision, operation.expectedRevision);
        return false;
      default:
        return operation satisfies never;
    }
  }

  #acceptedRevisionOf(key: string): number {
    const pending = this.#pending.get(key);
    if (pending === undefined) return this.#durable.get(key)?.revision ?? 0;
    return pending.value === undefined ? 0 : pending.revision;
  }
}

function expectRevision(key: string, revision: number, expected: number): void {
  if (revision === expected) return;
  throw conflict(key, `has revision ${revision}, not ${expected} (0: it does not exist)`);
}

function conflict(key: string, what: string): DroverError {
  return new DroverError('DRV_STORE_CONFLICT', `${key} ${what}`);
}

function jsonOf(key: string, value: unknown): string {
  let text: string | undefined;
  try {
    text = JSON.stringify(value);
  } catch (error) {
    throw internalError(`the value of ${key} is not JSON: ${messageOf(error)}`);
  }
  if (text === undefined) throw internalError(`the value of ${key} is not JSON`);
  return text;
}
