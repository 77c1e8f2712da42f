/**
 * What instances cost an etcd that holds the state, and masters over it: 10,000 and 100,000 of them, created by a real
 * master, and a day of changes. Runs when named only. `DROVER_BENCH_INSTANCES` for another large size; the ratio stays.
 */
import { hasEtcd } from '../etcd.js';
import type { Row } from '../table.js';
import { rowsOf } from './etcd-size-rows.js';
import { measureSize } from './etcd-size-world.js';

const LARGE = Number(process.env.DROVER_BENCH_INSTANCES ?? 100_000);
const HOURS = Number(process.env.DROVER_BENCH_HOURS ?? 24);

export async function benchEtcdSize(): Promise<Row[]> {
  if (!hasEtcd()) throw new Error('no etcd (apt: etcd-server)');
  const rows: Row[] = [];
  for (const instances of [LARGE / 10, LARGE])
    rows.push(...rowsOf(await measureSize({ instances, hours: HOURS })));
  return rows;
}
