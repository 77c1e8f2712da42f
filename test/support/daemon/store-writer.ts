/**
 * A program that writes to a store without pause until it is killed, for `store-crash.test.ts`. It prints one line
 * of JSON for the opening and one for each acknowledged transaction.
 * Usage: node store-writer.js DIRECTORY
 */
import { openStore } from '../../../src/store/lmdb/open.js';
import type { Operation, Store } from '../../../src/store/store.js';

const SLOTS = 40;

function say(line: Record<string, number>): void {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

async function lastOf(store: Store, slot: number): Promise<number> {
  const value = (await store.get(`left/${slot}`))?.value;
  return typeof value === 'number' ? value : 0;
}

/**
 * Writes one slot without end. Both keys of the slot always hold the same number; every third transaction also makes or
 * removes a third key.
 */
async function writeSlot(store: Store, slot: number): Promise<never> {
  for (let n = (await lastOf(store, slot)) + 1; ; n++) {
    const operations: Operation[] = [
      { do: 'put', key: `left/${slot}`, value: n },
      { do: 'put', key: `right/${slot}`, value: n },
    ];
    if (n % 3 === 0) operations.push({ do: 'put', key: `third/${slot}`, value: 'x'.repeat((n % 7) * 900) });
    if (n % 3 === 1) operations.push({ do: 'remove', key: `third/${slot}` });
    say({ slot, n, revision: await store.transact(operations) });
  }
}

const [directory] = process.argv.slice(2);
if (directory === undefined) throw new Error('usage: node store-writer.js DIRECTORY');
const store = await openStore({ directory });
say({ opened: await store.barrier() });
await Promise.all(Array.from({ length: SLOTS }, (_, slot) => writeSlot(store, slot)));
