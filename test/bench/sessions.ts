/**
 * screen and tmux: POST to ONLINE against the bare tool's own start, what 200 idle instances cost, and how fast what a
 * killed daemon and a killed session owner left is taken up again.
 */
import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { pino } from 'pino';
import { SystemClock } from '../../src/loop/system-clock.js';
import { prepareRoot } from '../../src/node/root.js';
import { sessionRuntime } from '../../src/runtime/session/session-runtime.js';
import { residentMB, TICKS_PER_SECOND, ticksOf } from './process-figures.js';
import type { Row } from './table.js';
import { BenchDaemon, type InstanceInfo, median, ms, REPOSITORY, until } from './world.js';

const TOOLS = ['screen', 'tmux'] as const;
type Tool = (typeof TOOLS)[number];

const STARTS = 20;
/** The first starts also start the session owner (and tmux's server) and compile the code. */
const WARM_UP = 5;
const INSTANCES = 200;
const IDLE_SECONDS = 30;
const PATIENCE_MS = 180_000;

export async function benchSessions(): Promise<Row[]> {
  const rows: Row[] = [];
  for (const tool of TOOLS) rows.push(await startRow(tool), ...(await manyRows(tool)));
  return rows;
}

async function startRow(tool: Tool): Promise<Row> {
  const bare = await bareStarts(tool);
  const daemon = await BenchDaemon.start();
  try {
    await putConfiguration(daemon, tool, 0);
    const drover: number[] = [];
    for (let index = 0; index < STARTS + WARM_UP; index++) drover.push(await timeToOnline(daemon, tool));
    const measured = drover.slice(WARM_UP);
    const above = median(measured) - median(bare);
    return {
      figure: `${tool}: POST /instances to ONLINE, median above the bare tool's start`,
      value: `${ms(above)} (${ms(median(measured))})`,
      baseline: `${tool} ${ms(median(bare))}`,
      target: '<= 100 ms above',
      ok: above <= 100,
    };
  } finally {
    await daemon.stop();
  }
}

async function timeToOnline(daemon: BenchDaemon, tool: Tool): Promise<number> {
  const startedAt = performance.now();
  const { id } = (await daemon.request('POST', '/instances', { configurationName: tool })) as InstanceInfo;
  while (((await daemon.request('GET', `/instances/${id}`)) as InstanceInfo).state !== 'ONLINE')
    await delay(1);
  return performance.now() - startedAt;
}

/** From the command to the file that the command in the session makes. */
async function bareStarts(tool: Tool): Promise<number[]> {
  const directory = mkdtempSync(join(tmpdir(), 'drover-bench-bare-'));
  const socket = join(directory, 'socket');
  const call = (words: readonly string[]): Promise<unknown> =>
    promisify(execFile)(tool, tool === 'tmux' ? ['-S', socket, '-f', '/dev/null', ...words] : [...words], {
      env: { PATH: process.env.PATH ?? '', SCREENDIR: directory, LC_ALL: 'C.UTF-8' },
    });
  const times: number[] = [];
  try {
    for (let index = 0; index < STARTS; index++) {
      const mark = join(directory, `mark-${index}`);
      const command = ['/bin/sh', '-c', 'echo >"$1"; exec sleep 100000', 'sh', mark];
      const startedAt = performance.now();
      await call(
        tool === 'tmux'
          ? ['new-session', '-d', '-s', `s${index}`, ...command]
          : ['-dmS', `s${index}`, ...command],
      );
      while (!existsSync(mark)) await delay(1);
      times.push(performance.now() - startedAt);
    }
    return times;
  } finally {
    if (tool === 'tmux') await call(['kill-server']);
    else for (const server of screenServers(directory)) process.kill(server, 'SIGTERM');
    rmSync(directory, { recursive: true, force: true });
  }
}

async function manyRows(tool: Tool): Promise<Row[]> {
  const daemon = await BenchDaemon.start();
  try {
    await putConfiguration(daemon, tool, INSTANCES);
    const isUp = async (): Promise<boolean> => {
      const instances = await daemon.instances();
      return instances.filter(({ state }) => state === 'ONLINE').length === INSTANCES;
    };
    await until(isUp, PATIENCE_MS);
    return [await idleRow(daemon, tool), await adoptionRow(daemon, tool)];
  } finally {
    await daemon.stop();
  }
}

async function idleRow(daemon: BenchDaemon, tool: Tool): Promise<Row> {
  // The garbage of the starts is collected in the first half minute; idle is what comes after.
  await delay(30_000);
  const ours = [daemon.pid, sessionOwnerOf(daemon, tool)];
  const servers = serversOf(daemon, tool);
  const before = { ours: await ticksOf(ours), servers: await ticksOf(servers) };
  await delay(IDLE_SECONDS * 1000);
  const percentOf = (ticks: number): number => (ticks / TICKS_PER_SECOND / IDLE_SECONDS) * 100;
  const percent = percentOf((await ticksOf(ours)) - before.ours);
  const theirs = percentOf((await ticksOf(servers)) - before.servers);
  const memory = (await Promise.all(ours.map(residentMB))).map((megabytes) => Math.round(megabytes));
  return {
    figure: `${tool}: ${INSTANCES} idle instances, CPU of daemon and session owner over ${IDLE_SECONDS} s`,
    value: `${percent.toFixed(2)} % of a core, ${memory.join(' + ')} MB`,
    baseline: `servers of ${tool}: ${servers.length}, ${theirs.toFixed(2)} %`,
    target: '< 3 %',
    ok: percent < 3,
  };
}

/** Measured on the runtime: the API says ONLINE of what was online before, also while it is being taken up. */
async function adoptionRow(daemon: BenchDaemon, tool: Tool): Promise<Row> {
  const before = new Set((await daemon.instances()).map(({ processPid }) => processPid));
  const sessionOwner = sessionOwnerOf(daemon, tool);
  await daemon.kill();
  process.kill(sessionOwner, 'SIGKILL');
  const { rootId, sockets, lockKey, data, instanceLogs } = await prepareRoot(daemon.root);
  const runtime = sessionRuntime({
    tool,
    rootId,
    socketDirectory: sockets,
    lockKey,
    sessionsDirectory: join(data, 'sessions'),
    logsDirectory: instanceLogs,
    segmentBytes: 8 * 1024 * 1024,
    segments: 4,
    sessionOwnerProgram: join(REPOSITORY, 'dist/session-owner-main.js'),
    path: process.env.PATH ?? '',
    logger: pino({ enabled: false }),
    clock: new SystemClock(),
  });
  // The timers of its clock keep no process alive, as in a daemon other things do.
  const staysAlive = setInterval(() => undefined, 1000);
  const startedAt = performance.now();
  const held = await runtime.adopt();
  const seconds = (performance.now() - startedAt) / 1000;
  await runtime.release();
  clearInterval(staysAlive);
  await daemon.startAgain();
  const same = held.filter(
    ({ exit, process }) => exit === null && process !== null && 'pid' in process && before.has(process.pid),
  );
  return {
    figure: `${tool}: kill -9 of daemon and session owner, then the adoption of ${INSTANCES} instances`,
    value: `${seconds.toFixed(2)} s, ${same.length} of them the same processes`,
    baseline: '-',
    target: '< 3 s',
    ok: seconds < 3 && same.length === INSTANCES,
  };
}

async function putConfiguration(daemon: BenchDaemon, tool: Tool, minimum: number): Promise<void> {
  await daemon.request('PUT', `/configurations/${tool}`, {
    name: tool,
    command: 'sleep 100000',
    runtime: tool,
    ramMB: 64,
    cpu: 0,
    minimumServiceCount: minimum,
  });
}

/** Its standard error is the log beside its socket. */
function sessionOwnerOf(daemon: BenchDaemon, tool: Tool): number {
  const log = join(daemon.root, 'data', 'sockets', `${tool}.log`);
  const found = readdirSync('/proc').find((entry) => {
    try {
      return Number.isInteger(Number(entry)) && readlinkSync(`/proc/${entry}/fd/2`) === log;
    } catch {
      return false;
    }
  });
  if (found === undefined) throw new Error(`no session owner of ${tool} runs`);
  return Number(found);
}

function serversOf(daemon: BenchDaemon, tool: Tool): number[] {
  if (tool === 'screen') return screenServers(join(daemon.root, 'data', 'sockets', 'screen'));
  const note = readFileSync(join(daemon.root, 'data', 'sessions', 'tmux', 'tmux.server'), 'utf8');
  return [Number.parseInt(note, 10)];
}

function screenServers(directory: string): number[] {
  return readdirSync(directory).flatMap((name) => {
    const pid = /^(\d+)\./.exec(name)?.[1];
    return pid === undefined ? [] : [Number(pid)];
  });
}
