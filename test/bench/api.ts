/**
 * The API against bare Fastify: requests per second of an authenticated GET, and of the list of 10,000 instances
 * against the same bytes sent by a bare route. The clients (autocannon) run in a process of their own.
 */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { fastify } from 'fastify';
import { z } from 'zod';
import { instanceKey } from '../../src/store/keys.js';
import { ApiWorld, instanceRecord } from '../support/api-world.js';
import type { Row } from './table.js';

const INSTANCES = 10_000;
const ROUNDS = 5;
const SECONDS = 3;
const TARGET = 0.7;

const run = promisify(execFile);
const autocannon = fileURLToPath(import.meta.resolve('autocannon'));
const resultSchema = z.object({
  requests: z.object({ average: z.number() }),
  non2xx: z.number(),
  errors: z.number(),
});

export async function benchApi(): Promise<Row[]> {
  const world = await new ApiWorld().start();
  const bare = fastify();
  try {
    await fill(world);
    await world.server.start();
    bare.get('/', () => ({ hello: 'world' }));
    const bytes = Buffer.from(await (await world.call('GET', '/instances')).arrayBuffer());
    bare.get('/list', (_request, reply) => {
      reply.header('content-type', 'application/json; charset=utf-8').send(bytes);
    });
    const base = await bare.listen({ host: '127.0.0.1', port: 0 });
    const headers = ['-H', `authorization=Bearer ${world.admin}`];
    const one = await compare([`${world.url}/instances/i00042`, ...headers], [base]);
    const list = await compare([`${world.url}/instances`, ...headers], [`${base}/list`]);
    return [
      row('authenticated GET /instances/{id}, requests per second', 'bare hello', one),
      row('GET /instances with 10,000, requests per second', 'bare route, same bytes', list),
    ];
  } finally {
    await bare.close();
    await world.stop();
  }
}

async function fill(world: ApiWorld): Promise<void> {
  const records = Array.from({ length: INSTANCES }, (_, index) =>
    instanceRecord({ id: `i${String(index).padStart(5, '0')}`, createdAt: index }),
  );
  const revision = await world.store.transact(
    records.map((value) => ({ do: 'create', key: instanceKey(value.id), value })),
  );
  await world.instances.until(revision);
}

interface Comparison {
  readonly measured: number;
  readonly baseline: number;
  readonly ratio: number;
}

/** In turns, so that what disturbs the machine disturbs both; the median of the ratios of the turns. */
async function compare(ours: readonly string[], theirs: readonly string[]): Promise<Comparison> {
  await load(theirs);
  await load(ours);
  const turns: Comparison[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const baseline = await load(theirs);
    const measured = await load(ours);
    turns.push({ measured, baseline, ratio: measured / baseline });
  }
  turns.sort((a, b) => a.ratio - b.ratio);
  const median = turns[Math.floor(ROUNDS / 2)];
  if (median === undefined) throw new Error('nothing was measured');
  return median;
}

async function load(target: readonly string[]): Promise<number> {
  const options = ['--json', '-c', '50', '-d', String(SECONDS)];
  const { stdout } = await run(process.execPath, [autocannon, ...options, ...target], { maxBuffer: 2 ** 24 });
  const { requests, non2xx, errors } = resultSchema.parse(JSON.parse(stdout));
  if (non2xx + errors > 0) throw new Error(`${target[0]}: ${non2xx} bad answers, ${errors} errors`);
  return requests.average;
}

function row(figure: string, against: string, { measured, baseline, ratio }: Comparison): Row {
  return {
    figure: `api: ${figure}`,
    value: `${Math.round(measured)} (${ratio.toFixed(2)})`,
    baseline: `${against}: ${Math.round(baseline)}`,
    target: `>= ${TARGET.toFixed(2)} of it`,
    ok: ratio >= TARGET,
  };
}
