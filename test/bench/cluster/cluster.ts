/**
 * A cluster: one master in a process of its own and 500 wrappers over TLS on loopback, with 20 instances each; what that
 * costs at rest, how fast it is filled, and what happens when a node falls silent or a side stands still. Beside it the
 * same world in one process without sockets. `DROVER_BENCH_NODES` for another size.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { cpuTicks, residentMB, TICKS_PER_SECOND } from '../process-figures.js';
import type { Row } from '../table.js';
import { until } from '../world.js';
import { BenchChild } from './cluster-child.js';
import { type Cost, type Findings, rowsOf, type Stalls } from './cluster-rows.js';

const NODES = Number(process.env.DROVER_BENCH_NODES ?? 500);
const PER_NODE = 20;
const REST_MS = 20_000;
const STALL_MS = 3000;
/** From the end of a stall until a loss would be known, at the latest. */
const AFTERMATH_MS = 10_000;
const WAIT_MS = 180_000;
const SILENT = 'node-0';

const nothingSchema = z.null();
const doorSchema = z.object({ port: z.int(), token: z.string() });
const lossTimesSchema = z.object({ noticedAt: z.number(), placedAt: z.number(), onlineAt: z.number() });

export async function benchCluster(): Promise<Row[]> {
  const baseline = await inDirectory(measureInProcess);
  const measured = await inDirectory(measureOverSockets);
  return rowsOf({ nodes: NODES, perNode: PER_NODE, measured, baseline });
}

async function inDirectory<T>(measure: (directory: string) => Promise<T>): Promise<T> {
  const directory = await mkdtemp(join(tmpdir(), 'drover-bench-'));
  try {
    return await measure(directory);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

async function measureInProcess(directory: string): Promise<Findings> {
  const world = new BenchChild('./cluster-in-process.js', directory, String(NODES));
  try {
    await world.ask(nothingSchema, 'join');
    const filled = await fill(world);
    const rest = await costAtRest(world.pid);
    const silence = await fallSilent(world, () => world.ask(nothingSchema, 'silence'));
    return { filled, rest, silence };
  } finally {
    await world.stop();
  }
}

async function measureOverSockets(directory: string): Promise<Findings & { readonly stalls: Stalls }> {
  const master = new BenchChild('./cluster-master.js', directory);
  const wrappers: BenchChild[] = [];
  try {
    const { port, token } = await master.ask(doorSchema, 'door');
    const join = async (first: number, count: number): Promise<BenchChild> => {
      const child = new BenchChild(
        './cluster-wrappers.js',
        String(port),
        token,
        String(first),
        String(count),
      );
      wrappers.push(child);
      await child.ask(nothingSchema, 'join');
      return child;
    };
    // The one that falls silent is a process of its own: its socket stays open, and nothing comes.
    const silent = await join(0, 1);
    const others = await join(1, NODES - 1);
    await until(async () => (await master.ask(z.number(), 'connected')) === NODES, WAIT_MS);
    const filled = await fill(master);
    const rest = await costAtRest(master.pid);
    const stalls = {
      ofMaster: await stall(master, master, others),
      ofWrappers: await stall(others, master, others),
    };
    const silence = await fallSilent(master, async () => silent.freeze());
    return { filled, rest, silence, stalls };
  } finally {
    for (const child of [...wrappers, master]) await child.stop();
  }
}

async function fill(master: BenchChild): Promise<Findings['filled']> {
  const before = await cpuTicks(master.pid);
  const seconds = await master.ask(z.number(), 'place', String(NODES * PER_NODE));
  return { seconds, cpuSeconds: ((await cpuTicks(master.pid)) - before) / TICKS_PER_SECOND };
}

/** What was left over from the start is collected in the first half minute; rest is what comes after. */
async function costAtRest(pid: number): Promise<Cost> {
  await delay(30_000);
  const before = await cpuTicks(pid);
  const began = performance.now();
  await delay(REST_MS);
  const seconds = (performance.now() - began) / 1000;
  const cores = ((await cpuTicks(pid)) - before) / TICKS_PER_SECOND / seconds;
  return { cores, megabytes: await residentMB(pid) };
}

/** One side stands still. Resolves with what was lost by it: nodes and instances called lost, processes started again. */
async function stall(side: BenchChild, master: BenchChild, wrappers: BenchChild): Promise<number> {
  const count = async (): Promise<number> =>
    (await master.ask(z.number(), 'losses')) + (await wrappers.ask(z.number(), 'starts'));
  const before = await count();
  side.freeze();
  await delay(STALL_MS);
  side.thaw();
  await delay(AFTERMATH_MS);
  return (await count()) - before;
}

async function fallSilent(master: BenchChild, silence: () => Promise<unknown>): Promise<Findings['silence']> {
  const held = await master.ask(z.number(), 'watchLoss', SILENT);
  const silentAt = Date.now();
  await silence();
  const { noticedAt, placedAt, onlineAt } = await master.ask(lossTimesSchema, 'untilReplaced');
  const placedMs = placedAt - noticedAt;
  return { held, noticedMs: noticedAt - silentAt, placedMs, onlineMs: onlineAt - noticedAt };
}
