/** The API's reads against bare Fastify routes that send the same bytes, each server in a process of its own. */
import { type ChildProcess, fork } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import autocannon from 'autocannon';
import type { Row } from './table.js';
import { BenchDaemon, freePort, type InstanceInfo, until } from './world.js';

const SECONDS = 5;
const ROUNDS = 2;
const LISTED = 10_000;

export async function benchApi(): Promise<Row[]> {
  const daemon = await BenchDaemon.start();
  let bare: ChildProcess | undefined;
  try {
    // No node offers it, so these are records only; the one that runs is asked for by id.
    await daemon.request('PUT', '/configurations/one', {
      name: 'one',
      command: 'sleep 100000',
      runtime: 'process',
      ramMB: 64,
      cpu: 0,
    });
    await until(async () => (await daemon.instances())[0]?.state === 'ONLINE');
    const id = (await daemon.instances())[0]?.id ?? '';
    await daemon.request('PUT', '/configurations/many', {
      name: 'many',
      command: 'true',
      runtime: 'offered-by-nobody',
      minimumServiceCount: LISTED - 1,
    });
    await until(async () => ((await daemon.instances()) as InstanceInfo[]).length === LISTED, 120_000);
    const bytes = join(daemon.root, 'list.json');
    await writeFile(bytes, JSON.stringify(await daemon.instances()));
    const port = await freePort();
    bare = fork(fileURLToPath(new URL('./bare-server.js', import.meta.url)), [String(port), bytes]);
    await until(async () => (await fetch(`http://127.0.0.1:${port}/hello`)).ok);
    const one = await compare(daemon, `/instances/${id}`, `http://127.0.0.1:${port}/hello`, 50);
    const list = await compare(daemon, '/instances', `http://127.0.0.1:${port}/list`, 4);
    return [
      row('GET /instances/{id}, authenticated, requests/s', one, 'bare Fastify hello', 0.9),
      row(`GET /instances with ${LISTED} instances, requests/s`, list, 'bare route, same bytes', 0.8),
    ];
  } finally {
    bare?.kill();
    await daemon.stop();
  }
}

interface Rates {
  readonly drover: number;
  readonly bare: number;
}

/** In turns, so that a machine that slows down slows both. */
async function compare(
  daemon: BenchDaemon,
  path: string,
  bareUrl: string,
  connections: number,
): Promise<Rates> {
  const rates = { drover: 0, bare: 0 };
  for (let round = 0; round < ROUNDS; round++) {
    rates.bare += await rate(bareUrl, {}, connections);
    rates.drover += await rate(daemon.url + path, { authorization: `Bearer ${daemon.token}` }, connections);
  }
  return { drover: rates.drover / ROUNDS, bare: rates.bare / ROUNDS };
}

async function rate(url: string, headers: Record<string, string>, connections: number): Promise<number> {
  const result = await autocannon({ url, headers, connections, duration: SECONDS });
  if (result.non2xx > 0 || result.errors > 0)
    throw new Error(`${url}: ${result.non2xx} refused, ${result.errors} errors`);
  return result.requests.average;
}

function row(figure: string, { drover, bare }: Rates, baseline: string, target: number): Row {
  const ratio = drover / bare;
  return {
    figure,
    value: `${Math.round(drover)} (${ratio.toFixed(2)} x)`,
    baseline: `${baseline} ${Math.round(bare)}`,
    target: `>= ${target.toFixed(2)} x`,
    ok: ratio >= target,
  };
}
