/** What a 300 MB template file costs the node that takes it and gives it back: memory at its peak, and time. */
import { createHash, randomFillSync } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdtemp, open, rm, writeFile } from 'node:fs/promises';
import { type IncomingMessage, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { peakMB, residentMB } from './process-figures.js';
import type { Row } from './table.js';
import { BenchDaemon } from './world.js';

const MIB = 1024 * 1024;
const SIZE_MB = 300;
const TARGET_MB = 60;
/** The kernel then counts the peak of the process anew. */
const RESET_PEAK = '5';

export async function benchTemplateUpload(): Promise<Row[]> {
  const directory = await mkdtemp(join(tmpdir(), 'drover-bench-'));
  const daemon = await BenchDaemon.start();
  try {
    const source = join(directory, 'source');
    const digest = await makeFile(source);
    // Code that runs for the first time is compiled then, which is not what is measured.
    const small = join(directory, 'small');
    await writeFile(small, 'x');
    await upload(daemon, small, 'small');
    await download(daemon, 'small');

    const copyMs = await timed(() => copy(source, join(directory, 'copy')));
    const readMs = await timed(() => hashOf(createReadStream(source)));
    const before = await residentMB(daemon.pid);
    await writeFile(`/proc/${daemon.pid}/clear_refs`, RESET_PEAK);
    const uploadMs = await timed(() => upload(daemon, source, 'large'));
    const peakOfUpload = await peakMB(daemon.pid);
    let received = '';
    const downloadMs = await timed(async () => {
      received = await download(daemon, 'large');
    });
    if (received !== digest) throw new Error('what was read back is not what was uploaded');
    const growth = (await peakMB(daemon.pid)) - before;
    return [
      {
        figure: `${SIZE_MB} MB template file, uploaded and read back: growth of the daemon's memory at its peak`,
        value: `${growth.toFixed(0)} MB (upload ${(peakOfUpload - before).toFixed(0)} MB)`,
        baseline: `before: ${before.toFixed(0)} MB`,
        target: `< ${TARGET_MB} MB`,
        ok: growth < TARGET_MB,
      },
      rateRow('uploaded, until it is on disk', uploadMs, 'plain copy with fsync', copyMs),
      rateRow('read back', downloadMs, 'plain read', readMs),
    ];
  } finally {
    await daemon.stop();
    await rm(directory, { recursive: true });
  }
}

function rateRow(what: string, ms: number, plain: string, plainMs: number): Row {
  const rate = (each: number): string => `${((SIZE_MB / each) * 1000).toFixed(0)} MB/s`;
  return {
    figure: `${SIZE_MB} MB template file ${what}`,
    value: rate(ms),
    baseline: `${plain}: ${rate(plainMs)}`,
    target: 'informs',
    ok: true,
  };
}

/** Bytes that no file system can pack; resolves with their digest. */
async function makeFile(path: string): Promise<string> {
  const hash = createHash('sha256');
  const file = await open(path, 'wx');
  const block = Buffer.alloc(MIB);
  for (let index = 0; index < SIZE_MB; index++) {
    randomFillSync(block);
    hash.update(block);
    await file.writeFile(block);
  }
  await file.close();
  return hash.digest('hex');
}

async function copy(from: string, to: string): Promise<void> {
  await pipeline(createReadStream(from), createWriteStream(to, { flush: true }));
}

async function upload(daemon: BenchDaemon, path: string, name: string): Promise<void> {
  const answer = await call(daemon, 'POST', name, path);
  answer.resume();
  if (answer.statusCode !== 201) throw new Error(`the upload was answered with ${answer.statusCode}`);
}

async function download(daemon: BenchDaemon, name: string): Promise<string> {
  return hashOf(await call(daemon, 'GET', name));
}

function call(daemon: BenchDaemon, method: string, name: string, body?: string): Promise<IncomingMessage> {
  const url = `${daemon.url}/templates/bench/upload/files/${name}`;
  const headers = { authorization: `Bearer ${daemon.token}` };
  return new Promise((resolve, reject) => {
    const sent = request(url, { method, headers }, resolve);
    sent.on('error', reject);
    if (body === undefined) sent.end();
    else pipeline(createReadStream(body), sent).catch(reject);
  });
}

async function hashOf(stream: AsyncIterable<Buffer>): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of stream) hash.update(chunk);
  return hash.digest('hex');
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}
