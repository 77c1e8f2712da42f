/** etcd 3.4 on loopback and a temporary directory, as the baseline for starts and writes. Debian: `apt-get install etcd-server`. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { type EtcdCluster, startEtcd } from '../support/etcd/etcd-server.js';
import { freePort, until } from './world.js';

/** Where another one lies than in the PATH. */
const PROGRAM = process.env.DROVER_BENCH_ETCD ?? 'etcd';
const LIMIT_MS = 60_000;
const POLL_MS = 3;

export function hasEtcd(): boolean {
  try {
    execFileSync(PROGRAM, ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** `use` gets members with etcd's own times, the data of the n-th in `<directory>/<n>`. They are ended after it. */
export async function withMembers<T>(
  { count, directory }: { readonly count: number; readonly directory: string },
  use: (cluster: EtcdCluster) => Promise<T>,
): Promise<T> {
  const cluster = await startEtcd({
    program: PROGRAM,
    places: Array.from({ length: count }, (_, index) => ({
      address: '127.0.0.1',
      prefix: [],
      directory: join(directory, String(index)),
    })),
    parameters: ['--heartbeat-interval', '100', '--election-timeout', '1000'],
  });
  const onExit = (): void => {
    for (const { pid } of cluster.members) if (pid > 0) process.kill(pid);
  };
  process.once('exit', onExit);
  try {
    return await use(cluster);
  } finally {
    process.off('exit', onExit);
    await cluster.stop();
  }
}

export class BenchEtcd {
  readonly #directory: string;
  readonly #client: string;
  readonly #peer: string;
  #child: ChildProcess;
  readonly #onExit = (): void => void this.#child.kill('SIGTERM');

  private constructor(directory: string, client: string, peer: string) {
    this.#directory = directory;
    this.#client = client;
    this.#peer = peer;
    this.#child = this.#spawn();
    process.once('exit', this.#onExit);
  }

  static async start(): Promise<BenchEtcd> {
    const directory = await mkdtemp(join(tmpdir(), 'drover-bench-etcd-'));
    const [client, peer] = [await freePort(), await freePort()].map((port) => `http://127.0.0.1:${port}`);
    const etcd = new BenchEtcd(directory, client ?? '', peer ?? '');
    await etcd.#untilServing(0);
    return etcd;
  }

  /** One transaction; 128 keys at most. */
  async put(entries: readonly (readonly [key: string, value: string])[]): Promise<void> {
    await this.#call('/v3/kv/txn', {
      success: entries.map(([key, value]) => ({ requestPut: { key: base64(key), value: base64(value) } })),
    });
  }

  /** Milliseconds from the spawn to the first answer that counts these keys. */
  async restart(keys: number): Promise<number> {
    await this.#end();
    const startedAt = performance.now();
    this.#child = this.#spawn();
    await this.#untilServing(keys);
    return performance.now() - startedAt;
  }

  get url(): string {
    return this.#client;
  }

  async stop(): Promise<void> {
    await this.#end();
    process.off('exit', this.#onExit);
    await rm(this.#directory, { recursive: true, force: true });
  }

  #spawn(): ChildProcess {
    const [client, peer] = [this.#client, this.#peer];
    const parameters = [
      ['--data-dir', this.#directory],
      ['--listen-client-urls', client],
      ['--advertise-client-urls', client],
      ['--listen-peer-urls', peer],
      ['--initial-advertise-peer-urls', peer],
      ['--initial-cluster', `default=${peer}`],
    ];
    return spawn(PROGRAM, parameters.flat(), { stdio: 'ignore' });
  }

  async #end(): Promise<void> {
    const ended = once(this.#child, 'exit');
    this.#child.kill('SIGTERM');
    await ended;
  }

  #untilServing(keys: number): Promise<void> {
    const all = { key: base64('\0'), range_end: base64('\0'), count_only: true };
    const isServing = async (): Promise<boolean> => {
      const { count } = countSchema.parse(await this.#call('/v3/kv/range', all));
      return count === keys;
    };
    return until(isServing, LIMIT_MS, POLL_MS);
  }

  async #call(path: string, body: unknown): Promise<unknown> {
    const response = await fetch(this.#client + path, { method: 'POST', body: JSON.stringify(body) });
    if (!response.ok) throw new Error(`etcd answers ${response.status}: ${await response.text()}`);
    return response.json();
  }
}

/** 64-bit numbers are texts, and a zero is left out. */
const countSchema = z.object({ count: z.coerce.number().default(0) });

/** The request of its HTTP gateway that puts one key. */
export function putRequest(key: string, value: string): { method: 'POST'; path: string; body: string } {
  const body = JSON.stringify({ key: base64(key), value: base64(value) });
  return { method: 'POST', path: '/v3/kv/put', body };
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}
