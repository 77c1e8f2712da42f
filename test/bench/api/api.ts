/**
 * The API of a real daemon under load: reads, durable writes and scrapes, each beside its baseline in a process of its
 * own. The client is the same for both. The instances are on a member node with fake runtimes, in another process: the
 * daemon knows them as ONLINE, placed and measured, and the machine has none of their processes to run.
 */
import { z } from 'zod';
import { BenchChild } from '../cluster/cluster-child.js';
import type { Row } from '../table.js';
import { BenchDaemon, until } from '../world.js';
import { readRows } from './reads.js';
import { scrapeRows } from './scrapes.js';
import { writeRows } from './writes.js';

const WRITTEN = 500;
const LISTED = 10_000;
const START_MS = 120_000;

const tokenSchema = z.object({ token: z.string() });

export async function benchApi(): Promise<Row[]> {
  const rowsOfMany = async (daemon: BenchDaemon): Promise<Row[]> => [
    ...(await readRows(daemon)),
    ...(await scrapeRows(daemon, LISTED)),
  ];
  return [...(await withInstances(WRITTEN, writeRows)), ...(await withInstances(LISTED, rowsOfMany))];
}

/** Runs `measure` when so many instances are ONLINE. */
export async function withInstances<T>(
  count: number,
  measure: (daemon: BenchDaemon) => Promise<T>,
): Promise<T> {
  const daemon = await BenchDaemon.start({ withLoopDelay: true });
  let node: BenchChild | undefined;
  try {
    const { token } = tokenSchema.parse(await daemon.request('POST', '/cluster/tokens', {}));
    node = new BenchChild('./cluster-wrappers.js', String(daemon.clusterPort), token, '0', '1');
    await node.ask(z.null(), 'join');
    await daemon.request('PUT', '/configurations/lobby', {
      name: 'lobby',
      command: 'true',
      runtime: 'process',
      nodes: ['node-0'],
      ramMB: 64,
      cpu: 1,
      availablePorts: { min: 20_000, max: 32_000 },
      minimumServiceCount: count,
    });
    const isUp = async (): Promise<boolean> =>
      (await daemon.instances()).filter(({ state }) => state === 'ONLINE').length === count;
    await until(isUp, START_MS, 500);
    return await measure(daemon);
  } finally {
    await daemon.end();
    await node?.stop();
  }
}
