/**
 * Live logs: 10,000 lines a second from one instance to 20 clients through a whole daemon, the fan-out alone against a
 * naive loop of `ws`, and the last lines of a long log.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { cpuTicks, ownerOf, residentMB, TICKS_PER_SECOND } from '../process-figures.js';
import type { Row } from '../table.js';
import { BenchDaemon, ms, percentile, until } from '../world.js';
import type { ClientFindings } from './live-log-clients.js';
import { benchFanOut } from './live-log-fan-out.js';

const CLIENTS = 20;
const SECONDS = 10;
const LINES = SECONDS * 10_000;
/** The clients' process compiles its own code with the first lines. */
const WARM_UP_SECONDS = 1;
const WARM_UP_LINES = WARM_UP_SECONDS * 10_000;
const LOG_MIB = 32;
const READS = 50;

export async function benchLiveLog(): Promise<Row[]> {
  const daemon = await BenchDaemon.start();
  try {
    const { id, pid } = await startWriter(daemon);
    const rows = await liveRows(daemon, id, pid);
    return [...rows, await benchFanOut(CLIENTS), ...(await tailRows(daemon, id))];
  } finally {
    await daemon.stop();
  }
}

/** Resolves when the instance has said that it is ready for `go`. */
export async function startWriter(daemon: BenchDaemon): Promise<{ id: string; pid: number }> {
  const script = fileURLToPath(new URL('./line-writer.js', import.meta.url));
  await daemon.request('PUT', '/configurations/writer', {
    name: 'writer',
    command: `${process.execPath} ${script}`,
    runtime: 'process',
    ramMB: 256,
    cpu: 0,
    minimumServiceCount: 1,
  });
  await until(async () => (await daemon.instances())[0]?.state === 'ONLINE');
  const { id = '', processPid = 0 } = (await daemon.instances())[0] ?? {};
  await until(async () => (await lastLines(daemon, id, 5)).includes('ready'));
  return { id, pid: processPid ?? 0 };
}

async function lastLines(daemon: BenchDaemon, id: string, count: number): Promise<string[]> {
  const answer = (await daemon.request('GET', `/instances/${id}/logs?lines=${count}`)) as { lines: string[] };
  return answer.lines;
}

async function liveRows(daemon: BenchDaemon, id: string, pid: number): Promise<Row[]> {
  const owner = await ownerOf(pid);
  const url = `${daemon.url.replace('http', 'ws')}/instances/${id}/live-log?tail=0`;
  const script = fileURLToPath(new URL('./live-log-clients.js', import.meta.url));
  const child = fork(script, [url, daemon.token, String(CLIENTS), String(LINES), String(WARM_UP_LINES)]);
  try {
    await once(child, 'message');
    await command(daemon, id, child, WARM_UP_SECONDS);
    const costs = (): Promise<number[]> => Promise.all([cpuTicks(daemon.pid), cpuTicks(owner)]);
    const [before, memory] = [await costs(), await residentMB(daemon.pid)];
    const began = performance.now();
    const findings = (await command(daemon, id, child, SECONDS)) as ClientFindings;
    const seconds = (performance.now() - began) / 1000;
    const after = await costs();
    const cores = after.map((ticks, index) => (ticks - (before[index] ?? 0)) / TICKS_PER_SECOND / seconds);
    return rowsOf(findings, cores, (await residentMB(daemon.pid)) - memory);
  } finally {
    child.kill();
  }
}

/** Resolves with what the clients say of the lines of so many seconds. */
async function command(
  daemon: BenchDaemon,
  id: string,
  child: ChildProcess,
  seconds: number,
): Promise<unknown> {
  const said = once(child, 'message');
  await daemon.request('POST', `/instances/${id}/execute`, { command: `go ${seconds}` });
  const [message] = await said;
  return message;
}

function rowsOf({ received, wrong, p50, p99, max }: ClientFindings, cores: number[], grownMB: number): Row[] {
  const expected = LINES * CLIENTS;
  const [daemonCores = 0, ownerCores = 0] = cores;
  const all = daemonCores + ownerCores;
  return [
    {
      figure: `live log, 10,000 lines/s to ${CLIENTS} clients for ${SECONDS} s: lines lost, repeated or out of order`,
      value: `${expected - received + wrong} of ${expected}`,
      baseline: '-',
      target: '0',
      ok: received === expected && wrong === 0,
    },
    {
      figure: 'the same: CPU of daemon and owner',
      value: `${all.toFixed(2)} cores (${daemonCores.toFixed(2)} + ${ownerCores.toFixed(2)}), ${grownMB.toFixed(0)} MB grown`,
      baseline: '-',
      target: '< 1 core',
      ok: all < 1,
    },
    {
      figure: 'the same: from writing a line to its arrival, p50 / p99 / max',
      value: `${ms(p50)} / ${ms(p99)} / ${ms(max)}`,
      baseline: '-',
      target: 'p99 <= 25 ms, max <= 60 ms',
      ok: p99 <= 25 && max <= 60,
    },
  ];
}

/** Of a log that is as long as logs get by default. */
async function tailRows(daemon: BenchDaemon, id: string): Promise<Row[]> {
  await daemon.request('POST', `/instances/${id}/execute`, { command: `fill ${LOG_MIB + 4}` });
  await until(async () => (await lastLines(daemon, id, 5)).includes('filled'), 120_000);
  const [long, short] = [await times(daemon, id, 1000), await times(daemon, id, 1)];
  const [p50, max] = [percentile(long, 0.5), Math.max(...long)];
  return [
    {
      figure: `GET /logs?lines=1000 of a log of ${LOG_MIB} MiB, p50 / max of ${READS}`,
      value: `${ms(p50)} / ${ms(max)}`,
      baseline: `lines=1 ${ms(percentile(short, 0.5))}`,
      target: '< 20 ms',
      ok: max < 20,
    },
  ];
}

async function times(daemon: BenchDaemon, id: string, count: number): Promise<number[]> {
  const took: number[] = [];
  for (let read = 0; read < READS; read++) {
    const began = performance.now();
    await lastLines(daemon, id, count);
    took.push(performance.now() - began);
  }
  return took;
}
