/** A store without a disk, for tests and simulations: the same semantics, "durable" a few microtasks later. */
import { Ledger } from '../ledger.js';
import { LedgerStore } from '../ledger-store.js';
import { ChangeHistory } from '../watch.js';

export class MemoryStore extends LedgerStore {
  constructor(options: { historyCapacity?: number } = {}) {
    super(new Ledger(new Map(), 0), new ChangeHistory(0, options.historyCapacity));
  }

  protected async write(): Promise<void> {}

  protected async release(): Promise<void> {}
}
