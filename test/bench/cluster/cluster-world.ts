/** What benchmarks of a cluster are made of: a master in a process of its own, wrappers over TLS in others, and costs. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { cpuTicks, residentMB, TICKS_PER_SECOND } from '../process-figures.js';
import { until } from '../world.js';
import { BenchChild } from './cluster-child.js';

export const nothingSchema = z.null();
const doorSchema = z.object({ port: z.int(), token: z.string() });

const WAIT_MS = 180_000;
const REST_MS = 20_000;
/** Nodes in one process: so many share a heap and an event loop with room to spare. */
const NODES_PER_PROCESS = 500;

export interface Filled {
  readonly seconds: number;
  /** Processor time of the process that holds the master. */
  readonly cpuSeconds: number;
}

export interface Cost {
  /** Share of a core. */
  readonly cores: number;
  readonly megabytes: number;
}

export async function inDirectory<T>(measure: (directory: string) => Promise<T>): Promise<T> {
  const directory = await mkdtemp(join(tmpdir(), 'drover-bench-'));
  try {
    return await measure(directory);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/** Places so many more instances, all at once. */
export async function fill(master: BenchChild, count: number): Promise<Filled> {
  const before = await cpuTicks(master.pid);
  const seconds = await master.ask(z.number(), 'place', String(count));
  return { seconds, cpuSeconds: ((await cpuTicks(master.pid)) - before) / TICKS_PER_SECOND };
}

/** What was left over from the start is collected in the first half minute; rest is what comes after. */
export async function costAtRest(pid: number): Promise<Cost> {
  await delay(30_000);
  const before = await cpuTicks(pid);
  const began = performance.now();
  await delay(REST_MS);
  const seconds = (performance.now() - began) / 1000;
  const cores = ((await cpuTicks(pid)) - before) / TICKS_PER_SECOND / seconds;
  return { cores, megabytes: await residentMB(pid) };
}

export class ClusterWorld {
  readonly master: BenchChild;
  readonly #wrappers: BenchChild[] = [];
  #nodes = 0;

  private constructor(directory: string) {
    this.master = new BenchChild('./cluster-master.js', directory);
  }

  /** `use` gets a master without nodes; everything is ended after it. */
  static run<T>(use: (world: ClusterWorld) => Promise<T>): Promise<T> {
    return inDirectory(async (directory) => {
      const world = new ClusterWorld(directory);
      try {
        return await use(world);
      } finally {
        for (const child of [...world.#wrappers, world.master]) await child.stop();
      }
    });
  }

  /** So many more nodes, in one process. Resolves when the master has fed them all. */
  async join(count: number): Promise<BenchChild> {
    const { port, token } = await this.master.ask(doorSchema, 'door');
    const parameters = [port, token, this.#nodes, count].map(String);
    const child = new BenchChild('./cluster-wrappers.js', ...parameters);
    this.#wrappers.push(child);
    this.#nodes += count;
    await child.ask(nothingSchema, 'join');
    await until(async () => (await this.master.ask(z.number(), 'connected')) === this.#nodes, WAIT_MS);
    return child;
  }

  /** As many as wanted, in as many processes as that takes. */
  async joinMany(count: number): Promise<void> {
    for (let left = count; left > 0; left -= NODES_PER_PROCESS)
      await this.join(Math.min(left, NODES_PER_PROCESS));
  }
}
