/**
 * A root directory with the process runtime's built owner. A test makes as many runtimes on it as it needs, one for
 * each daemon. The end kills every process with the root's mark. Needs `npm run build`.
 */
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { readProcess } from '../../../src/files/processes.js';
import { readLastLines } from '../../../src/logs/tail.js';
import { SystemClock } from '../../../src/loop/system-clock.js';
import type { KeptRuntime } from '../../../src/runtime/owner/kept-runtime.js';
import { type ProcessRuntimeOptions, processRuntime } from '../../../src/runtime/process/process-runtime.js';
import type { StartSpec } from '../../../src/runtime/runtime.js';
import { REPOSITORY } from '../repository-root.js';
import { until } from '../until.js';

const OWNER_PROGRAM = join(REPOSITORY, 'dist/owner-main.js');

export class ProcessWorld {
  readonly root = mkdtempSync(join(tmpdir(), 'drover-process-'));
  readonly rootId = randomBytes(6).toString('hex');
  readonly workingDirectory = join(this.root, 'running');
  readonly options: ProcessRuntimeOptions = {
    rootId: this.rootId,
    socketDirectory: join(this.root, 'sockets'),
    lockKey: this.rootId,
    logsDirectory: join(this.root, 'logs'),
    segmentBytes: 8 * 1024 * 1024,
    segments: 4,
    ownerProgram: OWNER_PROGRAM,
    logger: pino({ enabled: false }),
    clock: new SystemClock(),
  };
  readonly #runtimes: KeptRuntime[] = [];

  constructor() {
    mkdirSync(this.workingDirectory);
  }

  /** A runtime as a new daemon makes it. Earlier runtimes are not released. */
  runtime(more: Partial<ProcessRuntimeOptions> = {}): KeptRuntime {
    const runtime = processRuntime({ ...this.options, ...more });
    this.#runtimes.push(runtime);
    return runtime;
  }

  spec(instanceId: string, command: string, more: Partial<StartSpec> = {}): StartSpec {
    return {
      instanceId,
      run: 1,
      command,
      workingDirectory: this.workingDirectory,
      environment: { PATH: '/usr/local/bin:/usr/bin:/bin' },
      ramMB: 16,
      cpu: 10,
      ...more,
    };
  }

  async lines(instanceId: string): Promise<string[]> {
    return (await readLastLines(join(this.root, 'logs', instanceId), 100_000)).lines;
  }

  /** The pids of the owner processes of this root. */
  owners(): number[] {
    return livePids().filter((pid) => readText(pid, 'cmdline').includes(this.rootId) && !this.#isMarked(pid));
  }

  /** The pids of the live processes that carry this root's mark. */
  marked(): number[] {
    return livePids().filter((pid) => this.#isMarked(pid));
  }

  async close(): Promise<void> {
    await Promise.all(this.#runtimes.map((runtime) => runtime.release()));
    for (const pid of [...this.owners(), ...this.marked()]) kill(pid);
    await until(() => {
      const left = [...this.owners(), ...this.marked()];
      for (const pid of left) kill(pid);
      if (left.length > 0) throw new Error(`still there: ${left}`);
    });
    rmSync(this.root, { recursive: true });
  }

  #isMarked(pid: number): boolean {
    return readText(pid, 'environ').includes(`DROVER_RUN=${this.rootId}/`);
  }
}

/** True when this program is installed. */
export function hasTool(name: string): boolean {
  try {
    execFileSync('/bin/sh', ['-c', 'command -v "$1"', 'sh', name], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

export function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // The process is gone meanwhile.
  }
}

export function livePids(): number[] {
  const pids = readdirSync('/proc').map(Number).filter(Number.isInteger);
  return pids.filter((pid) => pid !== process.pid && readProcess(pid)?.isZombie === false);
}

export function readText(pid: number, name: string): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'latin1');
  } catch {
    return '';
  }
}
