/**
 * A template of 2,000 files and 100 MB to 10 wrappers at once, over the channel's own code in one process, beside ten
 * plain tar pipes; then the same template with one file changed. Nothing is deleted meanwhile (see template-install.ts).
 */
import { execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { pino } from 'pino';
import { CallPeer } from '../../src/channel/protocol/calls.js';
import { createInProcessPair } from '../../src/channel/protocol/transport.js';
import { requestBundle, requestParts, templateServices } from '../../src/channel/services/template-relay.js';
import { SystemClock } from '../../src/loop/system-clock.js';
import type { FetchCost } from '../../src/model/template.js';
import { TemplateLibrary } from '../../src/templates/library/library.js';
import { StorageDownloads } from '../../src/templates/storage/storage-download.js';
import { StorageLibrary } from '../../src/templates/storage/storage-library.js';
import { TemplateSources } from '../../src/templates/template-sources.js';
import { TemplateCache } from '../../src/templates/transfer/cache.js';
import { PackThreads } from '../../src/templates/transfer/pack-threads.js';
import type { Row } from './table.js';
import { REPOSITORY } from './world.js';

const WRAPPERS = 10;
const FILES = 2000;
const FILE_BYTES = 50_000;
const DIRECTORIES = 20;
const TOTAL_MB = (FILES * FILE_BYTES) / 1e6;
/** Share of the plain pipe's speed. */
const TARGET = 0.9;

interface Node {
  readonly cache: TemplateCache;
  readonly calls: CallPeer;
}

export async function benchTemplateFanOut(): Promise<Row[]> {
  const directory = await mkdtemp(join(tmpdir(), 'drover-bench-'));
  try {
    const templates = join(directory, 'templates');
    await writeTemplate(join(templates, 'bench', 'large'));
    // Twice: what runs first finds nothing in the page cache.
    await plainPipes(join(templates, 'bench', 'large'), join(directory, 'warm-up'));
    const plain = await plainPipes(join(templates, 'bench', 'large'), join(directory, 'plain'));
    const master = await startMaster(directory, templates);
    // One node's threads do the work of all ten.
    const threads = new PackThreads(join(REPOSITORY, 'dist/pack-thread-main.js'));
    const nodes = await Promise.all(
      Array.from({ length: WRAPPERS }, (_, index) =>
        startNode(join(directory, `node-${index}`), master.sources, threads),
      ),
    );
    const digest = await master.digest();
    const whole = await timed(() => Promise.all(nodes.map((node) => fetch(node, digest))));
    await writeFile(join(templates, 'bench', 'large', 'd7', 'f7'), 'changed');
    await master.library.noteWrite('bench', 'large');
    const changed = await master.digest();
    const delta = await timed(() => Promise.all(nodes.map((node) => fetch(node, changed))));
    await master.stop();
    await threads.stop();
    return [
      wholeRow(whole.ms, plain),
      unsyncedRow(whole.ms, plain),
      deltaRow(delta.ms, whole.ms, delta.result),
    ];
  } finally {
    await rm(directory, { recursive: true });
  }
}

/** Beside pipes that promise the same, but for the hashes: on the disk. */
function wholeRow(ms: number, { onDiskMs }: PlainTimes): Row {
  const share = onDiskMs / ms;
  return {
    figure: `${TOTAL_MB} MB template of ${FILES} files to ${WRAPPERS} wrappers at once, verified and on disk`,
    value: `${rateOf(ms)} (${Math.round(share * 100)} %)`,
    baseline: `${WRAPPERS} pipes tar | tar, then sync -f: ${rateOf(onDiskMs)}`,
    target: `>= ${TARGET * 100} %`,
    ok: share >= TARGET,
  };
}

function unsyncedRow(ms: number, { pipesMs }: PlainTimes): Row {
  return {
    figure: 'the same beside pipes that leave everything in memory',
    value: `${rateOf(ms)} (${Math.round((pipesMs / ms) * 100)} %)`,
    baseline: `${WRAPPERS} pipes tar | tar: ${rateOf(pipesMs)}`,
    target: 'informs',
    ok: true,
  };
}

function deltaRow(ms: number, wholeMs: number, costs: readonly FetchCost[]): Row {
  const bytes = costs.reduce((sum, { transferredBytes }) => sum + transferredBytes, 0) / costs.length;
  const files = Math.max(...costs.map(({ transferredFiles }) => transferredFiles));
  return {
    figure: `the same with one file changed, to ${WRAPPERS} wrappers that have the old one`,
    value: `${(bytes / 1000).toFixed(0)} kB and ${files} file each, ${ms.toFixed(0)} ms`,
    baseline: `whole: ${TOTAL_MB} MB each, ${wholeMs.toFixed(0)} ms`,
    target: '< 1 % of the bytes',
    ok: bytes < TOTAL_MB * 1e6 * 0.01 && files === 1,
  };
}

function rateOf(ms: number): string {
  return `${((TOTAL_MB * WRAPPERS * 1000) / ms).toFixed(0)} MB/s`;
}

async function writeTemplate(root: string): Promise<void> {
  for (let index = 0; index < DIRECTORIES; index++) await mkdir(join(root, `d${index}`), { recursive: true });
  for (let index = 0; index < FILES; index++)
    await writeFile(join(root, `d${index % DIRECTORIES}`, `f${index}`), randomBytes(FILE_BYTES));
}

interface PlainTimes {
  /** Until all pipes have ended; what they wrote may be in memory only. */
  readonly pipesMs: number;
  /** Until it is on the disk as well. */
  readonly onDiskMs: number;
}

/** `tar -c | tar -x` for every wrapper at once. */
async function plainPipes(source: string, target: string): Promise<PlainTimes> {
  const pipes = await timed(() =>
    Promise.all(Array.from({ length: WRAPPERS }, (_, index) => plainPipe(source, join(target, `${index}`)))),
  );
  const sync = await timed(() => promisify(execFile)('sync', ['-f', target]));
  return { pipesMs: pipes.ms, onDiskMs: pipes.ms + sync.ms };
}

async function plainPipe(source: string, target: string): Promise<void> {
  await mkdir(target, { recursive: true });
  const packing = spawn('tar', ['-C', source, '-cf', '-', '.'], { stdio: ['ignore', 'pipe', 'inherit'] });
  const unpacking = spawn('tar', ['-C', target, '-xf', '-'], {
    stdio: [packing.stdout, 'inherit', 'inherit'],
  });
  const codes = await Promise.all([once(packing, 'exit'), once(unpacking, 'exit')]);
  if (codes.some(([code]) => code !== 0)) throw new Error('tar failed');
}

async function startMaster(directory: string, templates: string) {
  const shared = { clock: new SystemClock(), random: Math.random, logger: pino({ level: 'silent' }) };
  const providers = { keys: () => [], get: () => undefined };
  const library = new TemplateLibrary(templates, shared.clock, shared.logger);
  const downloads = new StorageDownloads({ providers, directory: join(directory, 'downloads'), ...shared });
  const stored = new StorageLibrary({ directory: join(directory, 'storages'), downloads, ...shared });
  const sources = new TemplateSources({ local: library, stored, providers });
  await library.start();
  await stored.start();
  return {
    library,
    sources,
    digest: async (): Promise<string> => (await library.digest('bench', 'large')) ?? '',
    stop: async (): Promise<void> => {
      sources.stop();
      await stored.stop();
      await library.stop();
    },
  };
}

async function startNode(
  directory: string,
  sources: TemplateSources,
  packThreads: PackThreads,
): Promise<Node> {
  const cache = new TemplateCache({
    directory,
    packThreads,
    logger: pino({ level: 'silent' }),
    clock: new SystemClock(),
  });
  await cache.start();
  const [mine, its] = createInProcessPair();
  const master = new CallPeer(its, templateServices(sources));
  its.onFrame((frame) => master.handle(frame));
  const calls = new CallPeer(mine, {});
  mine.onFrame((frame) => calls.handle(frame));
  return { cache, calls };
}

function fetch({ cache, calls }: Node, digest: string): Promise<FetchCost> {
  const { signal } = new AbortController();
  const whole = (): AsyncIterable<Buffer> => requestBundle(calls, digest, signal);
  return cache.fetch(digest, { whole, parts: requestParts(calls, digest, signal) }, signal);
}

async function timed<T>(work: () => Promise<T>): Promise<{ readonly ms: number; readonly result: T }> {
  const startedAt = performance.now();
  const result = await work();
  return { ms: performance.now() - startedAt, result };
}
