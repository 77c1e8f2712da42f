/**
 * A program that abandons calls of an etcd, many times over: it opens two watches and a call, and drops all of them
 * when the first ends. `integration/store/etcd-heap.test.ts` runs it with a C library that notices the use of freed
 * memory early.
 */
import { SystemClock } from '../../../src/loop/system-clock.js';
import { endOfPrefix } from '../../../src/store/etcd/etcd.js';
import { EtcdClient } from '../../../src/store/etcd/wire/client.js';

const ROUNDS = 30;
const RANGE = { key: '/a/', end: endOfPrefix('/a/'), revision: 2 };

async function abandon(endpoint: string): Promise<void> {
  const client = new EtcdClient({ endpoints: [endpoint], clock: new SystemClock() });
  const abandoning = new AbortController();
  const over = (): void => abandoning.abort();
  const watch = (): Promise<unknown> =>
    client.watch(RANGE, abandoning.signal)[Symbol.asyncIterator]().next().then(over, over);
  await Promise.all([watch(), watch(), client.range({ key: '/a' }).then(over, over)]);
  client.close();
}

const [endpoint = ''] = process.argv.slice(2);
for (let round = 0; round < ROUNDS; round++) await abandon(endpoint);
console.log(`${ROUNDS} rounds`);
