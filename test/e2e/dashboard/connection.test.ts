/**
 * What the dashboard does without its server: a daemon that is killed and starts again, a line that goes dead, a tab that
 * nobody looks at, a key that is revoked. Needs `npm run build`.
 */
import type { Page, WebSocket } from 'playwright-core';
import { describe, expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import { TcpProxy } from '../../support/cluster/tcp-proxy.js';
import { CHROMIUM } from '../../support/dashboard/browser.js';
import { type SharedDashboard, shareDashboard } from '../../support/dashboard/shared-dashboard.js';

const LOST = 'No connection to Drover. What you see is from';
/** The tries after 250 ms, 500 ms, and so on, up to 8 s: with so many the connection was lost for seconds. */
const TRIES = 5;
const SILENCE_MS = 20_000;
const HIDDEN_MS = 30_000;

describe.skipIf(CHROMIUM === undefined)('the dashboard in Chromium (skipped where there is none)', () => {
  let shared: SharedDashboard;
  shareDashboard((one) => {
    shared = one;
  });

  it('says that what it shows is old while the daemon is down, and goes on by itself, without a load', async () => {
    const { daemon } = shared;
    daemon.configure('lobby', { command: 'sleep 1000', minimumServiceCount: 1 });
    await daemon.untilOnline('lobby', 1);
    // The daemon answers 503 while it starts, when the page may ask whether its session still stands.
    const dashboard = await shared.open({}, { isServerLost: true, statuses: [503] });
    await dashboard.signIn(shared.admin);
    const { page } = dashboard;
    await dashboard.show('instances');
    const rows = page.getByRole('row').filter({ hasText: 'lobby' });
    await rows.filter({ hasText: 'Online' }).waitFor();
    await page.evaluate('window.droverTestMark = true');
    const sockets = countSockets(page);
    await daemon.kill();
    await page.getByText(LOST).waitFor();
    expect(await rows.count()).toBe(1);
    await expect.poll(() => sockets.opened, { timeout: 120_000 }).toBeGreaterThanOrEqual(TRIES);
    await page.getByText(LOST).waitFor();
    await daemon.start();
    await page.getByText(LOST).waitFor({ state: 'detached' });
    daemon.configure('lobby', { command: 'sleep 1000', minimumServiceCount: 2 });
    await rows.filter({ hasText: 'Online' }).nth(1).waitFor();
    expect(await page.evaluate('window.droverTestMark')).toBe(true);
  });

  it('notices a line that went dead without a word, and one that was cut, and says when the page is older', async () => {
    const proxy = await TcpProxy.start({ port: shared.daemon.apiPort });
    onTestFinished(() => proxy.stop());
    const dashboard = await shared.open({ origin: `http://127.0.0.1:${proxy.port}` }, { isServerLost: true });
    const { page } = dashboard;
    await page.clock.install();
    await dashboard.signIn(shared.admin);
    const sockets = countSockets(page);
    await page.getByText('No instances yet').waitFor();
    proxy.goDeaf();
    await page.clock.fastForward(SILENCE_MS);
    await page.getByText(LOST).waitFor();
    proxy.hear();
    // What was deaf stays so: each connection that passes is a new one.
    proxy.cut();
    await page.clock.runFor(SILENCE_MS);
    await page.getByText(LOST).waitFor({ state: 'detached' });
    expect(sockets.opened).toBeGreaterThan(0);

    await page.route(/\/ui\/$/, async (route) => {
      const answer = await route.fetch();
      await route.fulfill({
        response: answer,
        body: (await answer.text()).replace(/index-[\w-]+\.js/, 'index-newer.js'),
      });
    });
    proxy.cut();
    await page.clock.runFor(SILENCE_MS);
    await page.getByText('This page is older than the server').waitFor();
  });

  it('rests 30 s after the tab was hidden, and is up to date when it is seen again', async () => {
    const { daemon } = shared;
    // In 30 s of this clock the server beats once or not at all, so the page may also look for it meanwhile.
    const dashboard = await shared.open({}, { isServerLost: true });
    const { page } = dashboard;
    await page.clock.install();
    const sockets = countSockets(page);
    await dashboard.signIn(shared.admin);
    await expect.poll(() => sockets.open.size).toBe(1);
    await page.clock.pauseAt(new Date(Date.now() + 3_600_000));
    await setHidden(page, true);
    await page.clock.runFor(HIDDEN_MS);
    await expect.poll(() => sockets.open.size).toBe(0);
    const { opened } = sockets;
    await page.clock.runFor(10 * HIDDEN_MS);
    expect(sockets.opened).toBe(opened);
    daemon.configure('lobby', { command: 'sleep 1000', minimumServiceCount: 1 });
    await daemon.untilOnline('lobby', 1);
    await page.clock.resume();
    await setHidden(page, false);
    await page.getByText('1 of 1 online').waitFor();
    expect(sockets.open.size).toBe(1);
  });

  it('is out at once, on a screen that shows nothing live too, when its key is deleted', async () => {
    const { api } = shared.daemon;
    for (const screen of ['instances', 'templates']) {
      const made = await api.send('POST', '/keys', { label: `of-${screen}`, scope: 'READ' });
      const { token } = z.object({ token: z.string() }).parse(JSON.parse(made.text));
      const dashboard = await shared.open({}, { statuses: [401] });
      await dashboard.signIn(token);
      await dashboard.show(screen);
      await api.send('DELETE', `/keys/of-${screen}`);
      await dashboard.page.getByRole('heading', { name: 'Sign in to Drover' }).waitFor();
      expect(await dashboard.page.locator('.sign-in .notice').textContent()).not.toBe('');
    }
  });
});

/** Counts from now on. */
function countSockets(page: Page): { opened: number; readonly open: Set<WebSocket> } {
  const sockets = { opened: 0, open: new Set<WebSocket>() };
  page.on('websocket', (socket) => {
    sockets.opened++;
    sockets.open.add(socket);
    socket.on('close', () => sockets.open.delete(socket));
  });
  return sockets;
}

/** Tells the page what a browser tells it when another tab comes before it. */
async function setHidden(page: Page, isHidden: boolean): Promise<void> {
  await page.evaluate(
    `Object.defineProperty(document, 'hidden', { configurable: true, get: () => ${isHidden} });
     document.dispatchEvent(new Event('visibilitychange'));`,
  );
}
