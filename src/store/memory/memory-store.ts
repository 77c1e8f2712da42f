/**
 * A store without a disk, for tests and simulations. Its semantics are the same; a transaction is "durable" a few
 * microtasks later.
 */

import { EmbeddedStore } from '../embedded-store.js';
import { KeyTable } from '../key-table.js';
import { ChangeHistory } from '../watch.js';

export class MemoryStore extends EmbeddedStore {
  constructor(options: { historyCapacity?: number } = {}) {
    super(new KeyTable(new Map(), 0), new ChangeHistory(0, options.historyCapacity));
  }

  protected async write(): Promise<void> {}

  protected async release(): Promise<void> {}
}
