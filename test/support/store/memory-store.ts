/**
 * A store without a disk, for tests and simulations. It behaves like the others; a transaction is "durable" a few
 * microtasks later.
 */

import { EmbeddedStore } from '../../../src/store/embedded-store.js';
import { KeyTable } from '../../../src/store/key-table.js';
import { ChangeHistory } from '../../../src/store/watch.js';

export class MemoryStore extends EmbeddedStore {
  constructor(options: { historyCapacity?: number } = {}) {
    super(new KeyTable(new Map(), 0), new ChangeHistory(0, options.historyCapacity));
  }

  protected async write(): Promise<void> {}

  protected async release(): Promise<void> {}
}
