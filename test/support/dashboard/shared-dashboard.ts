/**
 * Shares one daemon and one browser among all tests of a file. Each test opens pages of its own, which are closed and
 * checked after it.
 */
import { readFileSync } from 'node:fs';
import type { Browser, BrowserContext } from 'playwright-core';
import { afterAll, afterEach, beforeAll } from 'vitest';
import type { DaemonWorld, DaemonWorldOptions } from '../daemon/daemon.js';
import { shareDaemon } from '../daemon/shared-daemon.js';
import { BROWSER_TIMEOUT_MS, launchBrowser } from './browser.js';
import { DashboardPage, type DashboardPageOptions, type Provoked } from './dashboard-page.js';

export interface SharedDashboard {
  readonly daemon: DaemonWorld;
  /** The token of the daemon's admin key. */
  readonly admin: string;
  /** Opens a page that is checked after the test. `provoked`: the errors that the test causes. */
  open(options?: Partial<DashboardPageOptions>, provoked?: Provoked): Promise<DashboardPage>;
}

/** Call it once in a `describe`; `take` gets both before each test. */
export function shareDashboard(
  take: (shared: SharedDashboard) => void,
  options: DaemonWorldOptions = {},
): void {
  const opened: { readonly page: DashboardPage; readonly provoked: Provoked }[] = [];
  let browser: Browser | undefined;

  beforeAll(async () => {
    browser = await launchBrowser();
  }, BROWSER_TIMEOUT_MS);
  afterAll(() => browser?.close());

  shareDaemon((daemon) => {
    const running = browser;
    if (running === undefined) throw new Error('the browser was not started');
    const open: SharedDashboard['open'] = async (pageOptions = {}, provoked = {}) => {
      const page = await DashboardPage.open(running, {
        origin: `http://127.0.0.1:${daemon.apiPort}`,
        ...pageOptions,
      });
      opened.push({ page, provoked });
      return page;
    };
    take({ daemon, admin: readFileSync(daemon.paths.adminKey, 'utf8').trim(), open });
  }, options);

  // Registered after the daemon's hook, so it runs before it: pages close while the daemon still answers.
  afterEach(async () => {
    const pages = opened.splice(0);
    const contexts = new Set<BrowserContext>(pages.map(({ page }) => page.context));
    for (const context of contexts) await context.close();
    for (const { page, provoked } of pages) page.expectClean(provoked);
  });
}
