/**
 * Ten minutes of a whole daemon with real processes: 20 changes a second, noisy logs, clients that read them slowly. Do
 * memory, descriptors and the store level off? Runs when named only; `DROVER_BENCH_MINUTES` for another length.
 */
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { ownerOf, residentMB } from '../process-figures.js';
import type { Row } from '../table.js';
import { BenchDaemon, median, ms, until } from '../world.js';
import { Changes, PER_SECOND } from './changes.js';
import { courseOf } from './levelling.js';
import { SlowFollowers } from './slow-followers.js';

const MINUTES = Number(process.env.DROVER_BENCH_MINUTES ?? 10);
const NOISY = 4;
/** Of each: 8,000 lines a second in all, which fills and turns over the kept logs. */
const LINES_PER_SECOND = 2000;
const FOLLOWERS_OF_EACH = 3;
const SAMPLE_MS = 5000;
const SAMPLES_PER_LINE = 6;

interface Sampled {
  readonly atMs: number;
  readonly daemonMB: number;
  readonly ownerMB: number;
  /** Of daemon and owner. */
  readonly descriptors: number;
  readonly storeMB: number;
  readonly loopDelayMs: number;
}

/** What has to level off. `floor`: a rise of so much is none. */
const FIGURES = [
  { name: 'resident memory of the daemon', key: 'daemonMB', unit: 'MB', floor: 5 },
  { name: 'resident memory of the process owner', key: 'ownerMB', unit: 'MB', floor: 5 },
  { name: 'open descriptors of daemon and owner', key: 'descriptors', unit: 'descriptors', floor: 5 },
  { name: 'size of the store', key: 'storeMB', unit: 'MB', floor: 1 },
] as const;

export async function benchSoak(): Promise<Row[]> {
  const daemon = await BenchDaemon.start({ withLoopDelay: true });
  const followers = new SlowFollowers();
  try {
    const owner = await startNoise(daemon, followers);
    const changes = new Changes(daemon);
    await changes.prepare();
    const ending = new AbortController();
    const changing = changes.run(MINUTES * 60).finally(() => ending.abort());
    const [samples] = await Promise.all([sampleUntil(ending.signal, daemon, owner, changes), changing]);
    return rowsOf(samples, changes, followers);
  } finally {
    followers.stop();
    await daemon.stop();
  }
}

/** Resolves with the pid of the owner. */
async function startNoise(daemon: BenchDaemon, followers: SlowFollowers): Promise<number> {
  const script = fileURLToPath(new URL('../live-log/line-writer.js', import.meta.url));
  await daemon.request('PUT', '/configurations/noisy', {
    name: 'noisy',
    command: `${process.execPath} ${script}`,
    runtime: 'process',
    ramMB: 256,
    cpu: 0,
    minimumServiceCount: NOISY,
  });
  await until(
    async () => (await daemon.instances()).filter(({ state }) => state === 'ONLINE').length === NOISY,
  );
  const noisy = await daemon.instances();
  for (const { id } of noisy) {
    await until(async () => isReady(await daemon.request('GET', `/instances/${id}/logs?lines=5`)));
    const command = `go ${MINUTES * 60 + 60} ${LINES_PER_SECOND}`;
    await daemon.request('POST', `/instances/${id}/execute`, { command });
    for (let index = 0; index < FOLLOWERS_OF_EACH; index++) followers.follow(daemon, id);
  }
  return ownerOf(noisy[0]?.processPid ?? 0);
}

function isReady(logs: unknown): boolean {
  return (logs as { lines: string[] }).lines.includes('ready');
}

async function sampleUntil(
  signal: AbortSignal,
  daemon: BenchDaemon,
  owner: number,
  changes: Changes,
): Promise<Sampled[]> {
  const samples: Sampled[] = [];
  await daemon.loopDelay();
  while (!signal.aborted) {
    await delay(SAMPLE_MS, undefined, { signal }).catch(() => undefined);
    const sample = await takeSample(daemon, owner);
    samples.push(sample);
    if (samples.length % SAMPLES_PER_LINE === 0) console.log(progressOf(sample, samples[0], changes));
  }
  return samples;
}

async function takeSample(daemon: BenchDaemon, owner: number): Promise<Sampled> {
  return {
    atMs: performance.now(),
    daemonMB: await residentMB(daemon.pid),
    ownerMB: await residentMB(owner),
    descriptors: (await descriptorsOf(daemon.pid)) + (await descriptorsOf(owner)),
    storeMB: (await bytesIn(join(daemon.root, 'data/store'))) / 1024 / 1024,
    loopDelayMs: (await daemon.loopDelay()).p99,
  };
}

function progressOf(sample: Sampled, first: Sampled | undefined, { made, faults }: Changes): string {
  const seconds = Math.round((sample.atMs - (first?.atMs ?? 0) + SAMPLE_MS) / 1000);
  const memory = `${sample.daemonMB.toFixed(0)} + ${sample.ownerMB.toFixed(0)} MB`;
  return (
    `  ${seconds} s: ${made} changes (${faults.length} refused), ${memory}, ${sample.descriptors} descriptors, ` +
    `store ${sample.storeMB.toFixed(1)} MB, event loop p99 ${ms(sample.loopDelayMs)}`
  );
}

async function descriptorsOf(pid: number): Promise<number> {
  return (await readdir(`/proc/${pid}/fd`)).length;
}

/** On the disk: a store's file may have holes. */
async function bytesIn(directory: string): Promise<number> {
  let bytes = 0;
  for (const entry of await readdir(directory, { recursive: true, withFileTypes: true }))
    if (entry.isFile()) bytes += (await stat(join(entry.parentPath, entry.name))).blocks * 512;
  return bytes;
}

function rowsOf(samples: readonly Sampled[], changes: Changes, followers: SlowFollowers): Row[] {
  const world = `${MINUTES} minutes of ${PER_SECOND} changes/s, ${NOISY * LINES_PER_SECOND} log lines/s, ${NOISY * FOLLOWERS_OF_EACH} slow clients`;
  const wanted = MINUTES * 60 * PER_SECOND;
  for (const fault of changes.faults.slice(0, 10)) console.log(`  refused: ${fault}`);
  const delays = samples.map(({ loopDelayMs }) => loopDelayMs);
  return [
    {
      id: 'changes',
      figure: `${world}: changes answered with 2xx`,
      value: `${changes.made} of ${wanted}`,
      baseline: `clients got ${followers.received} lines and were closed ${followers.closed} times`,
      target: 'all',
      ok: changes.made === wanted,
    },
    ...FIGURES.map(({ name, key, unit, floor }) => {
      const course = courseOf(
        samples.map((sample) => ({ atMs: sample.atMs, value: sample[key] })),
        floor,
      );
      return {
        figure: `the same: ${name}, mean of the later half and its rise in that time`,
        value: `${course.mean.toFixed(1)} ${unit} (${course.rise < 0 ? '' : '+'}${course.rise.toFixed(1)})`,
        baseline: `at the beginning ${(samples[0]?.[key] ?? Number.NaN).toFixed(1)} ${unit}`,
        target: 'rises by <= 5 %',
        ok: course.isLevel,
      };
    }),
    {
      figure: 'the same: event-loop delay p99 of 5 s, median / max',
      value: `${ms(median(delays))} / ${ms(Math.max(...delays))}`,
      baseline: '-',
      target: 'informs',
      ok: true,
    },
  ];
}
