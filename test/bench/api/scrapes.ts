/** What a scrape of `/metrics` costs the daemon: processor time of all of its threads, and its longest turn. */
import { setTimeout as delay } from 'node:timers/promises';
import { cpuMs } from '../process-figures.js';
import type { Row } from '../table.js';
import { type BenchDaemon, median, ms, until } from '../world.js';

const SCRAPES = 15;
/** A scrape answers others for a second. */
const APART_MS = 1100;
const MOST_CPU_MS = 20;
const LONGEST_TURN_MS = 10;
const LINES_OF_ONE = 3;
/** Usage is measured every 10 s. */
const MEASURED_MS = 30_000;

export async function scrapeRows(daemon: BenchDaemon, instances: number): Promise<Row[]> {
  const isMeasured = async (): Promise<boolean> =>
    linesOf(await scrapeOf(daemon)) === instances * LINES_OF_ONE;
  await until(isMeasured, MEASURED_MS, APART_MS);
  const cpu: number[] = [];
  const turns: number[] = [];
  let bytes = 0;
  for (let scrape = -3; scrape < SCRAPES; scrape++) {
    await delay(APART_MS);
    await daemon.loopDelay();
    const before = await cpuMs(daemon.pid);
    const text = await scrapeOf(daemon);
    const used = (await cpuMs(daemon.pid)) - before;
    const { max } = await daemon.loopDelay();
    bytes = text.length;
    // The first ones warm up.
    if (scrape < 0) continue;
    cpu.push(used);
    turns.push(max);
  }
  const figure = `GET /metrics with ${instances} instances`;
  const size = `${(bytes / 1e6).toFixed(1)} MB of text, median of ${SCRAPES} scrapes`;
  return [
    {
      figure: `${figure}, CPU a scrape`,
      value: ms(median(cpu)),
      baseline: size,
      target: `<= ${MOST_CPU_MS} ms`,
      ok: median(cpu) <= MOST_CPU_MS,
    },
    {
      figure: `${figure}, longest turn of the event loop`,
      value: ms(median(turns)),
      baseline: `longest of all: ${ms(Math.max(...turns))}`,
      target: `<= ${LONGEST_TURN_MS} ms`,
      ok: median(turns) <= LONGEST_TURN_MS,
    },
  ];
}

async function scrapeOf({ url, token }: BenchDaemon): Promise<string> {
  const response = await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${token}` } });
  if (!response.ok) throw new Error(`GET /metrics: ${response.status}`);
  return response.text();
}

/** The lines that name an instance. */
function linesOf(text: string): number {
  return text.split('{instance="').length - 1;
}
