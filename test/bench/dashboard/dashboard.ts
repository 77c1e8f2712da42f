/**
 * The dashboard's table of 10,000 instances in Chromium, while 1,000 of them change a second: how soon it is there, how long
 * its tasks are, how it scrolls, and whether its memory stays level. DROVER_BENCH_MINUTES says how long memory is watched.
 * Then what 300 tabs cost the server: their sockets, with every topic that a tab can have.
 */
import { setTimeout as wait } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import { z } from 'zod';
import { CHROMIUM, launchBrowser } from '../../support/dashboard/browser.js';
import { withInstances } from '../api/api.js';
import { Changes } from '../api/changes.js';
import type { Row } from '../table.js';
import { costOfWatching } from '../watch/watch.js';
import { type BenchDaemon, ms, percentile } from '../world.js';
import { PageProbe } from './page-probe.js';

const INSTANCES = 10_000;
const CHANGES = 1_000;
const WATCHED_SECONDS = 30;
const SCROLLED_SECONDS = 5;
const MINUTES = Number(process.env.DROVER_BENCH_MINUTES ?? 10);
const LONGEST_TASK_MS = 50;
const FRAME_MS = 1_000 / 60;
const CONTENT_MS = 1_000;
const MOST_GROWTH = 1.1;
const TABS = 300;
const TOPICS = ['instances', 'configurations', 'nodes', 'templates', 'usage'];

const codeSchema = z.object({ code: z.string() });

export async function benchDashboard(): Promise<Row[]> {
  if (CHROMIUM === undefined) throw new Error('this machine has no Chromium in PATH');
  return await withInstances(INSTANCES, async (daemon) => {
    const browser = await launchBrowser();
    const rows: Row[] = [];
    try {
      const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
      rows.push(...(await measure(daemon, page)));
    } finally {
      await browser.close();
    }
    return [...rows, await measureTabs(daemon)];
  });
}

async function measureTabs(daemon: BenchDaemon): Promise<Row> {
  const { alone, watched, found } = await costOfWatching(daemon, { count: TABS, unread: 0, topics: TOPICS });
  return {
    figure: `${TABS} tabs with ${INSTANCES} instances, ${CHANGES} changes/s: CPU of the daemon`,
    value: `${watched.toFixed(2)} of a core, ${Math.round(found.megabytes)} MB in ${found.frames} frames`,
    baseline: `without a tab: ${alone.toFixed(2)} of a core`,
    target: '< 1 core',
    ok: watched < 1,
  };
}

async function measure(daemon: BenchDaemon, page: Page): Promise<Row[]> {
  const origin = daemon.url.replace(/\/api$/, '');
  const { code } = codeSchema.parse(await daemon.request('POST', '/sessions/codes'));
  const probe = await PageProbe.into(page);
  await page.goto(`${origin}/ui/#code=${code}`);
  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
  const contentMs = await contentOf(page, probe, `${origin}/ui/#/instances`);
  const ids = (await daemon.instances()).map(({ id }) => id);
  const quietFrames = await probe.scroll(SCROLLED_SECONDS);
  const changes = new Changes(daemon, ids, CHANGES);
  try {
    await probe.forgetTasks();
    await wait(WATCHED_SECONDS * 1_000);
    const tasks = await probe.longTasks();
    const frames = await probe.scroll(SCROLLED_SECONDS);
    const heap = await watchHeap(probe);
    return rowsOf({ contentMs, tasks, frames, quietFrames, heap });
  } finally {
    await changes.stop();
  }
}

/** The second load, as of a tab that is opened while others are: from its begin to the first row. */
async function contentOf(page: Page, probe: PageProbe, address: string): Promise<number> {
  await page.goto('about:blank');
  await page.goto(address);
  await page.getByRole('row').nth(2).waitFor();
  return await probe.firstRowMs();
}

/** MB in use after a collection, at the begin and at the end. */
async function watchHeap(probe: PageProbe): Promise<{ readonly before: number; readonly after: number }> {
  const before = await probe.heapMB();
  await wait(MINUTES * 60_000);
  return { before, after: await probe.heapMB() };
}

interface Measured {
  readonly contentMs: number;
  readonly tasks: readonly number[];
  readonly frames: readonly number[];
  readonly quietFrames: readonly number[];
  readonly heap: { readonly before: number; readonly after: number };
}

function rowsOf({ contentMs, tasks, frames, quietFrames, heap }: Measured): Row[] {
  const figure = `dashboard with ${INSTANCES} instances`;
  const changing = `${figure}, ${CHANGES} changes/s`;
  const longest = Math.max(0, ...tasks);
  const [p50, p99] = [percentile(frames, 0.5), percentile(frames, 0.99)];
  const growth = heap.after / heap.before;
  return [
    {
      figure: `${figure}: from the load of the page to its first rows`,
      value: ms(contentMs),
      baseline: '-',
      target: `<= ${CONTENT_MS} ms`,
      ok: contentMs <= CONTENT_MS,
    },
    {
      figure: `${changing}: tasks over ${LONGEST_TASK_MS} ms in ${WATCHED_SECONDS} s`,
      value: `${tasks.length}, the longest ${ms(longest)}`,
      baseline: '-',
      target: 'none',
      ok: tasks.length === 0,
    },
    {
      figure: `${changing}: frames of scrolling, p50 / p99`,
      value: `${ms(p50)} / ${ms(p99)}`,
      baseline: `without changes: ${ms(percentile(quietFrames, 0.5))} / ${ms(percentile(quietFrames, 0.99))}`,
      target: 'p50 <= 17.5 ms',
      ok: p50 <= FRAME_MS * 1.05,
    },
    {
      figure: `${changing}: memory of the tab after ${MINUTES} min`,
      value: `${heap.after.toFixed(1)} MB`,
      baseline: `at the begin: ${heap.before.toFixed(1)} MB`,
      target: `<= ${MOST_GROWTH} x`,
      ok: growth <= MOST_GROWTH,
    },
  ];
}
