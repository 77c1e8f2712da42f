/**
 * A root directory with the built session owner of screen or tmux sessions. A test makes as many runtimes on it as it
 * needs, one for each daemon. The end kills session owner, servers and everything that ran in them. Needs `npm run
 * build`.
 */
import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { readLastLines } from '../../../src/logs/tail.js';
import { SystemClock } from '../../../src/loop/system-clock.js';
import type { KeptRuntime } from '../../../src/runtime/owner/kept-runtime.js';
import type { StartSpec } from '../../../src/runtime/runtime.js';
import {
  type SessionRuntimeOptions,
  serverDirectory,
  sessionRuntime,
} from '../../../src/runtime/session/session-runtime.js';
import type { ToolKey } from '../../../src/runtime/session/tool-offer.js';
import { REPOSITORY } from '../repository-root.js';
import { until } from '../until.js';
import { kill, livePids, readText } from './process-world.js';

const SESSION_OWNER_PROGRAM = join(REPOSITORY, 'dist/session-owner-main.js');
export const TOOL_PATH = '/usr/local/bin:/usr/bin:/bin';

export class SessionWorld {
  readonly root = mkdtempSync(join(tmpdir(), 'drover-session-'));
  readonly rootId = randomBytes(6).toString('hex');
  readonly workingDirectory = join(this.root, 'running');
  readonly options: SessionRuntimeOptions;
  readonly #runtimes: KeptRuntime[] = [];

  constructor(tool: ToolKey, more: Partial<SessionRuntimeOptions> = {}) {
    mkdirSync(this.workingDirectory);
    this.options = {
      tool,
      rootId: this.rootId,
      socketDirectory: join(this.root, 'sockets'),
      lockKey: this.rootId,
      sessionsDirectory: join(this.root, 'sessions'),
      logsDirectory: join(this.root, 'logs'),
      segmentBytes: 8 * 1024 * 1024,
      segments: 4,
      sessionOwnerProgram: SESSION_OWNER_PROGRAM,
      path: TOOL_PATH,
      logger: pino({ enabled: false }),
      clock: new SystemClock(),
      ...more,
    };
  }

  /** A runtime as a new daemon makes it. Earlier runtimes are not released. */
  runtime(more: Partial<SessionRuntimeOptions> = {}): KeptRuntime {
    const runtime = sessionRuntime({ ...this.options, ...more });
    this.#runtimes.push(runtime);
    return runtime;
  }

  spec(instanceId: string, command: string, more: Partial<StartSpec> = {}): StartSpec {
    return {
      instanceId,
      run: 1,
      command,
      workingDirectory: this.workingDirectory,
      environment: { PATH: TOOL_PATH },
      ramMB: 16,
      cpu: 10,
      ...more,
    };
  }

  async lines(instanceId: string): Promise<string[]> {
    return (await readLastLines(this.logDirectory(instanceId), 1_000_000)).lines;
  }

  logDirectory(instanceId: string): string {
    return join(this.root, 'logs', instanceId);
  }

  /** The directory of the sockets of the tool's servers. */
  get servers(): string {
    return serverDirectory(this.options.socketDirectory, this.options.tool);
  }

  /** The directory in which the session owner keeps a run. */
  runDirectory(instanceId: string, run = 1): string {
    return join(this.options.sessionsDirectory, this.options.tool, `${instanceId}.${run}`);
  }

  /** The names of the runs that the session owner keeps. */
  kept(): string[] {
    const names = readdirSync(join(this.options.sessionsDirectory, this.options.tool));
    return names.filter((name) => /^[a-z0-9]{6}\.\d+$/.test(name)).sort();
  }

  /** The pids of the session owners of this root. */
  sessionOwners(): number[] {
    return this.#pids().filter((pid) => readText(pid, 'cmdline').startsWith('drover'));
  }

  sessionOwner(): number {
    const [pid] = this.sessionOwners();
    if (pid === undefined) throw new Error('no session owner runs');
    return pid;
  }

  /** The pids of the tool's servers of this root. */
  toolServers(): number[] {
    return this.#pids().filter((pid) => readText(pid, 'comm').startsWith(this.options.tool));
  }

  /** The pids of the live processes that carry this root's mark. */
  marked(): number[] {
    return livePids().filter((pid) => readText(pid, 'environ').includes(`DROVER_RUN=${this.rootId}/`));
  }

  async close(): Promise<void> {
    await Promise.all(this.#runtimes.map((runtime) => runtime.release()));
    // The session owners are killed first, because they would record the ends of their runs.
    for (const pid of this.sessionOwners()) kill(pid);
    await until(() => {
      const left = this.#pids();
      for (const pid of left) kill(pid);
      if (left.length > 0) throw new Error(`still there: ${left}`);
    });
    rmSync(this.root, { recursive: true });
  }

  /** The pids of the processes that name this root in their command line or environment, as all of its processes do. */
  #pids(): number[] {
    const isOurs = (text: string): boolean => text.includes(this.root) || text.includes(this.rootId);
    return livePids().filter((pid) => isOurs(readText(pid, 'cmdline')) || isOurs(readText(pid, 'environ')));
  }
}
