/**
 * A cluster: one master in a process of its own and 500 wrappers over TLS on loopback, with 20 instances each; what that
 * costs at rest, how fast it is filled, and what happens when a node falls silent or a side stands still. Beside it the
 * same world in one process without sockets. `DROVER_BENCH_NODES` for another size.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import type { Row } from '../table.js';
import { BenchChild } from './cluster-child.js';
import { type Findings, rowsOf, type Stalls } from './cluster-rows.js';
import { ClusterWorld, costAtRest, fill, inDirectory, nothingSchema } from './cluster-world.js';

const NODES = Number(process.env.DROVER_BENCH_NODES ?? 500);
const PER_NODE = 20;
const STALL_MS = 3000;
/** From the end of a stall until a loss would be known, at the latest. */
const AFTERMATH_MS = 10_000;
const SILENT = 'node-0';

const lossTimesSchema = z.object({ noticedAt: z.number(), placedAt: z.number(), onlineAt: z.number() });

export async function benchCluster(): Promise<Row[]> {
  const baseline = await inDirectory(measureInProcess);
  const measured = await ClusterWorld.run(measureOverSockets);
  return rowsOf({ nodes: NODES, perNode: PER_NODE, measured, baseline });
}

async function measureInProcess(directory: string): Promise<Findings> {
  const world = new BenchChild('./cluster-in-process.js', directory, String(NODES));
  try {
    await world.ask(nothingSchema, 'join');
    const filled = await fill(world, NODES * PER_NODE);
    const rest = await costAtRest(world.pid);
    const silence = await fallSilent(world, () => world.ask(nothingSchema, 'silence'));
    return { filled, rest, silence };
  } finally {
    await world.stop();
  }
}

async function measureOverSockets(world: ClusterWorld): Promise<Findings & { readonly stalls: Stalls }> {
  const { master } = world;
  // The one that falls silent is a process of its own: its socket stays open, and nothing comes.
  const silent = await world.join(1);
  const others = await world.join(NODES - 1);
  const filled = await fill(master, NODES * PER_NODE);
  const rest = await costAtRest(master.pid);
  const stalls = {
    ofMaster: await stall(master, master, others),
    ofWrappers: await stall(others, master, others),
  };
  const silence = await fallSilent(master, async () => silent.freeze());
  return { filled, rest, silence, stalls };
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
