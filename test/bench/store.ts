/** Durable writes of a store by 1, 64 and 512 writers at once: on etcd, beside LMDB on the same disk. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SystemClock } from '../../src/loop/system-clock.js';
import { openEtcdStore } from '../../src/store/etcd/open.js';
import { EtcdClient } from '../../src/store/etcd/wire/client.js';
import { openStore } from '../../src/store/lmdb/open.js';
import type { Store } from '../../src/store/store.js';
import { BenchEtcd, hasEtcd } from './etcd.js';
import type { Row } from './table.js';

const SECONDS = 3;
const WRITERS = [1, 64, 512];
/** As large as the record of an instance. */
const VALUE = { text: 'x'.repeat(600) };

export async function benchStore(): Promise<Row[]> {
  const lmdb = await onLmdb((store) => measureAll(store));
  const etcd = hasEtcd() ? await onEtcd((store) => measureAll(store)) : undefined;
  return WRITERS.map((writers, index) => {
    const [ours = 0, theirs = 0] = [etcd?.[index], lmdb[index]];
    return {
      figure: `durable writes per second on etcd (one member), ${writers} at once`,
      value: etcd === undefined ? 'no etcd' : `${Math.round(ours)} (${(ours / theirs).toFixed(2)} x LMDB)`,
      baseline: `LMDB ${Math.round(theirs)}`,
      target: '-',
      ok: true,
    };
  });
}

async function measureAll(store: Store): Promise<number[]> {
  await measure(store, 64);
  const figures: number[] = [];
  for (const writers of WRITERS) figures.push(await measure(store, writers));
  return figures;
}

async function measure(store: Store, writers: number): Promise<number> {
  const startedAt = performance.now();
  const endAt = startedAt + SECONDS * 1000;
  let count = 0;
  const write = async (writer: number): Promise<void> => {
    for (; performance.now() < endAt; count++)
      await store.transact([{ do: 'put', key: `bench/${writer}/${count % 20}`, value: VALUE }]);
  };
  await Promise.all(Array.from({ length: writers }, (_, writer) => write(writer)));
  return (count * 1000) / (performance.now() - startedAt);
}

async function onLmdb<T>(use: (store: Store) => Promise<T>): Promise<T> {
  const directory = await mkdtemp(join(tmpdir(), 'drover-bench-'));
  const store = await openStore({ directory });
  try {
    return await use(store);
  } finally {
    await store.close();
    await rm(directory, { recursive: true });
  }
}

async function onEtcd<T>(use: (store: Store) => Promise<T>): Promise<T> {
  const server = await BenchEtcd.start();
  try {
    const clock = new SystemClock();
    const store = await openEtcdStore({
      etcd: new EtcdClient({ endpoints: [server.url], clock }),
      prefix: '/bench',
      own: { nodeId: 'bench', clusterAddress: 'bench:6000', root: 'bench' },
      clock,
      signal: new AbortController().signal,
    });
    try {
      return await use(store);
    } finally {
      await store.close();
    }
  } finally {
    await server.stop();
  }
}
