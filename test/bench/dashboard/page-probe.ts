/** What a page says of itself: long tasks, frames, first rows, memory. All but the memory is measured in the page. */
import type { CDPSession, Page } from 'playwright-core';
import { z } from 'zod';

const BYTES_IN_MB = 1024 * 1024;
const numbers = z.array(z.number());
const heapUsage = z.object({ usedSize: z.number() });

/** Runs before the page's own scripts. */
const SET_UP = `
  window.droverBench = { tasks: [], firstRowMs: null };
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) window.droverBench.tasks.push(duration);
  }).observe({ type: 'longtask', buffered: true });
  const rows = new MutationObserver(() => {
    if (document.querySelector('.grid-row') === null) return;
    window.droverBench.firstRowMs = performance.now();
    rows.disconnect();
  });
  rows.observe(document, { childList: true, subtree: true });
`;

/** Two rows a frame, down and up again. */
const SCROLL = (seconds: number): string => `
  new Promise((resolve) => {
    const grid = document.querySelector('.grid');
    const frames = [];
    let [last, step] = [performance.now(), 76];
    const endAt = last + ${seconds} * 1000;
    const next = (now) => {
      frames.push(now - last);
      last = now;
      if (grid.scrollTop + grid.clientHeight >= grid.scrollHeight - 1) step = -76;
      grid.scrollTop += step;
      if (now < endAt) requestAnimationFrame(next);
      else resolve(frames.slice(1));
    };
    requestAnimationFrame(next);
  })
`;

export class PageProbe {
  readonly #page: Page;
  readonly #session: CDPSession;

  private constructor(page: Page, session: CDPSession) {
    this.#page = page;
    this.#session = session;
  }

  /** Before the page goes anywhere. */
  static async into(page: Page): Promise<PageProbe> {
    await page.addInitScript(SET_UP);
    return new PageProbe(page, await page.context().newCDPSession(page));
  }

  async forgetTasks(): Promise<void> {
    await this.#page.evaluate('window.droverBench.tasks.length = 0');
  }

  /** Milliseconds of each task of more than 50 ms. */
  async longTasks(): Promise<number[]> {
    return numbers.parse(await this.#page.evaluate('window.droverBench.tasks'));
  }

  /** Milliseconds from the begin of the load. */
  async firstRowMs(): Promise<number> {
    return z.number().parse(await this.#page.evaluate('window.droverBench.firstRowMs'));
  }

  /** Milliseconds of each frame. */
  async scroll(seconds: number): Promise<number[]> {
    return numbers.parse(await this.#page.evaluate(SCROLL(seconds)));
  }

  async heapMB(): Promise<number> {
    await this.#session.send('HeapProfiler.collectGarbage');
    const { usedSize } = heapUsage.parse(await this.#session.send('Runtime.getHeapUsage'));
    return usedSize / BYTES_IN_MB;
  }
}
