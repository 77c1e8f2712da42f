/** What the benchmarks of the whole program share: a real daemon on a temporary root, REST calls, medians. */
import { type ChildProcess, spawn } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { Agent, request } from 'node:http';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

export const REPOSITORY = fileURLToPath(new URL('../../../', import.meta.url));
const MAIN = join(REPOSITORY, 'dist/main.js');
const START_LIMIT_MS = 60_000;
const START_POLL_MS = 3;

export interface InstanceInfo {
  readonly id: string;
  readonly state: string;
  readonly processPid: number | null;
}

/** A daemon in a process of its own. */
export class BenchDaemon {
  readonly root: string;
  readonly url: string;
  readonly token: string;
  /** Where members of the cluster `test` join. */
  readonly clusterPort: number;
  /** From the spawn to the first answer 200 of `/api/instances`, the last time that it was started. */
  startedInMs = Number.NaN;
  #child: ChildProcess;
  readonly #agent = new Agent({ keepAlive: true });
  /** The daemon's own child processes would outlive a benchmark that is ended. */
  readonly #onExit = (): void => void this.#child.kill('SIGINT');

  private constructor(
    root: string,
    { url, clusterPort, token }: Pick<BenchDaemon, 'url' | 'clusterPort' | 'token'>,
    child: ChildProcess,
  ) {
    this.root = root;
    this.url = url;
    this.clusterPort = clusterPort;
    this.token = token;
    this.#child = child;
    process.once('exit', this.#onExit);
  }

  /**
   * `withExample`: the shipped configuration and template. `withLoopDelay`: `loopDelay` may be asked. `settings`: more of
   * `config.json`.
   */
  static async start({
    withExample = false,
    withLoopDelay = false,
    settings = {},
  }: {
    withExample?: boolean;
    withLoopDelay?: boolean;
    settings?: object;
  } = {}): Promise<BenchDaemon> {
    const root = await mkdtemp(join(tmpdir(), 'drover-bench-'));
    const [apiPort, clusterPort] = [await freePort(), await freePort()];
    await mkdir(join(root, 'configurations'));
    await writeFile(
      join(root, 'config.json'),
      JSON.stringify({
        clusterName: 'test',
        apiPort,
        port: clusterPort,
        maxRamMB: 1_000_000,
        maxCpu: 1_000_000,
        logLevel: 'warn',
        ...settings,
      }),
    );
    if (withExample)
      for (const directory of ['configurations', 'templates'])
        await cp(join(REPOSITORY, directory), join(root, directory), { recursive: true });
    const probe = withLoopDelay
      ? ['--import', fileURLToPath(new URL('./loop-delay.js', import.meta.url))]
      : [];
    const startedAt = performance.now();
    const child = spawnDaemon(root, probe);
    const url = `http://127.0.0.1:${apiPort}/api`;
    const tokenOf = async (): Promise<string> =>
      (await readFile(join(root, 'data', 'admin.key'), 'utf8')).trim();
    await until(async () => isServing(url, await tokenOf()), START_LIMIT_MS, START_POLL_MS);
    const startedInMs = performance.now() - startedAt;
    const daemon = new BenchDaemon(root, { url, clusterPort, token: await tokenOf() }, child);
    daemon.startedInMs = startedInMs;
    return daemon;
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /** By node:http on one kept connection: fetch would spend more of the time than what is measured. */
  async request(method: string, path: string, body?: unknown): Promise<unknown> {
    const headers = { authorization: `Bearer ${this.token}`, 'content-type': 'application/json' };
    const { status, text } = await new Promise<{ status: number; text: string }>((resolve, reject) => {
      const call = request(this.url + path, { method, headers, agent: this.#agent }, (response) => {
        let text = '';
        response.setEncoding('utf8');
        response.on('data', (chunk: string) => {
          text += chunk;
        });
        response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
      });
      call.on('error', (error) => {
        // The daemon closed a kept connection just as it was taken again.
        if (call.reusedSocket) resolve({ status: 0, text: '' });
        else reject(error);
      });
      call.end(body === undefined ? undefined : JSON.stringify(body));
    });
    if (status === 0) return this.request(method, path, body);
    if (status >= 300) throw new Error(`${method} ${path}: ${status} ${text}`);
    return text === '' ? undefined : JSON.parse(text);
  }

  /** 99th percentile and maximum of the event loop's delay since the last call, in milliseconds. */
  async loopDelay(): Promise<{ readonly p99: number; readonly max: number }> {
    const file = join(this.root, 'loop-delay');
    await rm(file, { force: true });
    this.#child.kill('SIGUSR2');
    let text = '';
    await until(async () => {
      text = await readFile(file, 'utf8');
      return true;
    });
    const [p99 = Number.NaN, max = Number.NaN] = text.split(' ').map(Number);
    return { p99, max };
  }

  async instances(): Promise<InstanceInfo[]> {
    return (await this.request('GET', '/instances')) as InstanceInfo[];
  }

  /** `kill -9` unless told otherwise. Until `startAgain` nothing may be asked of it. */
  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    const ended = new Promise((resolve) => this.#child.once('exit', resolve));
    this.#child.kill(signal);
    await ended;
  }

  async startAgain(): Promise<void> {
    const startedAt = performance.now();
    this.#child = spawnDaemon(this.root, []);
    await until(() => isServing(this.url, this.token), START_LIMIT_MS, START_POLL_MS);
    this.startedInMs = performance.now() - startedAt;
  }

  async stop(): Promise<void> {
    const ended = new Promise((resolve) => this.#child.once('exit', resolve));
    this.#child.kill('SIGINT');
    await ended;
    await this.#clear();
  }

  /** Ends the daemon and leaves its instances: for those that are no processes of this machine. */
  async end(): Promise<void> {
    await this.kill('SIGTERM');
    await this.#clear();
  }

  async #clear(): Promise<void> {
    process.off('exit', this.#onExit);
    this.#agent.destroy();
    await rm(this.root, { recursive: true, force: true });
  }
}

function spawnDaemon(root: string, probe: readonly string[]): ChildProcess {
  return spawn(process.execPath, [...probe, MAIN, 'start', '--root', root], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, DROVER_BENCH_LOOP_DELAY: join(root, 'loop-delay') },
  });
}

async function isServing(url: string, token: string): Promise<boolean> {
  const response = await fetch(`${url}/instances`, { headers: { authorization: `Bearer ${token}` } });
  await response.body?.cancel();
  return response.ok;
}

export async function until(isDone: () => Promise<boolean>, timeoutMs = 60_000, everyMs = 20): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  while (!(await isDone().catch(() => false))) {
    if (performance.now() > deadline) throw new Error('a benchmark waited in vain');
    await delay(everyMs);
  }
}

export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === 'object' && address !== null ? address.port : 0;
}

/** The value below which the share `p` (0 to 1) of the values lies. */
export function percentile(values: readonly number[], p: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.ceil(sorted.length * p) - 1)] ?? Number.NaN;
}

export const median = (values: readonly number[]): number => percentile(values, 0.5);

export const ms = (value: number): string => `${value.toFixed(1)} ms`;
