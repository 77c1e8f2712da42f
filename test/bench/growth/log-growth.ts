/** What a line of a log costs daemon and owner, at ever more lines a second; some clients follow it. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { startWriter } from '../live-log/live-log.js';
import { ownerOf, TICKS_PER_SECOND, ticksOf } from '../process-figures.js';
import type { Row } from '../table.js';
import { BenchDaemon } from '../world.js';
import { growthRows, type Measured } from './growth-row.js';

const RATES = [1000, 2500, 5000, 10_000, 20_000];
const CLIENTS = 10;
const SECONDS = 6;

export async function benchLogGrowth(): Promise<Row[]> {
  const daemon = await BenchDaemon.start();
  try {
    const { id, pid } = await startWriter(daemon);
    const pids = [daemon.pid, await ownerOf(pid)];
    const costs: Measured[] = [];
    // The first one compiles the code.
    for (const rate of [10_000, ...RATES])
      costs.push({ size: rate, cost: await costOf(daemon, id, pids, rate) });
    return growthRows({
      name: 'log-lines',
      title: 'A followed log, by lines a second',
      xLabel: `lines a second, to ${CLIENTS} clients`,
      yLabel: '% of a core, daemon and owner',
      drawn: ({ size, cost }) => (size * cost) / 1e4,
      unit: 'µs of CPU',
      of: 'lines a second',
      lines: [{ label: `a line to ${CLIENTS} clients: CPU of daemon and owner`, costs: costs.slice(1) }],
    });
  } finally {
    await daemon.stop();
  }
}

/** Microseconds of processor time, per line. */
async function costOf(
  daemon: BenchDaemon,
  id: string,
  pids: readonly number[],
  rate: number,
): Promise<number> {
  const lines = rate * SECONDS;
  const url = `${daemon.url.replace('http', 'ws')}/instances/${id}/live-log?tail=0`;
  const script = fileURLToPath(new URL('../live-log/live-log-clients.js', import.meta.url));
  const clients = fork(script, [url, daemon.token, String(CLIENTS), String(lines)]);
  try {
    await once(clients, 'message');
    const before = await ticksOf(pids);
    const arrived = once(clients, 'message');
    await daemon.request('POST', `/instances/${id}/execute`, { command: `go ${SECONDS} ${rate}` });
    await arrived;
    return (((await ticksOf(pids)) - before) * 1e6) / TICKS_PER_SECOND / lines;
  } finally {
    clients.kill();
  }
}
