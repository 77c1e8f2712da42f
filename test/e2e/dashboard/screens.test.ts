/** The dashboard's table of instances and its overview, live, on real instances. Needs `npm run build`. */
import { describe, expect, it } from 'vitest';
import { CHROMIUM } from '../../support/dashboard/browser.js';
import { type SharedDashboard, shareDashboard } from '../../support/dashboard/shared-dashboard.js';

describe.skipIf(CHROMIUM === undefined)('the dashboard in Chromium (skipped where there is none)', () => {
  let shared: SharedDashboard;
  shareDashboard((one) => {
    shared = one;
  });

  it('shows an instance come up, and stops it from the table', async () => {
    const { page } = await openSignedIn();
    await page.getByRole('link', { name: 'Instances', exact: true }).click();
    await page.getByText('No instances yet').waitFor();
    shared.daemon.configure('lobby', { command: 'sleep 1000', minimumServiceCount: 2 });
    const rows = page.getByRole('row').filter({ hasText: 'lobby' });
    await rows.filter({ hasText: 'Online' }).nth(1).waitFor();
    await rows.first().getByRole('checkbox').check();
    await page.getByRole('button', { name: 'Stop', exact: true }).click();
    const dialog = page.getByRole('dialog');
    const [id = ''] = (await rows.first().textContent())?.match(/[a-z0-9]{6}/) ?? [];
    expect(await dialog.textContent()).toContain(id);
    await dialog.getByRole('button', { name: 'Stop', exact: true }).click();
    await rows.filter({ hasText: 'Stopped' }).waitFor();
    expect(await rows.filter({ hasText: 'Stopped' }).textContent()).toContain(id);
  });

  it('keeps filter, order and groups in the address', async () => {
    shared.daemon.configure('lobby', { command: 'sleep 1000', minimumServiceCount: 1 });
    shared.daemon.configure('arena', { command: 'sleep 1000', minimumServiceCount: 1 });
    const { page } = await openSignedIn();
    await page.goto(`${page.url().replace(/#.*/, '')}#/instances?group=configuration`);
    await page.getByRole('row').filter({ hasText: 'lobby' }).first().waitFor();
    await page.getByRole('button', { name: /arena/ }).waitFor();
    await page.getByRole('searchbox').fill('lob');
    await expect.poll(() => page.getByRole('row').filter({ hasText: 'arena' }).count()).toBe(0);
    await page.getByRole('button', { name: 'Up', exact: true }).click();
    expect(page.url()).toMatch(/#\/instances\?(?=.*find=lob)(?=.*sort=up)(?=.*group=configuration)/);
    await page.reload();
    expect(await page.getByRole('searchbox').inputValue()).toBe('lob');
  });

  it('keeps the tiles of the overview when the lines of the past hours arrive later', async () => {
    shared.daemon.configure('lobby', { command: 'sleep 1000', minimumServiceCount: 1 });
    await shared.daemon.untilOnline('lobby', 1);
    const { page } = await openSignedIn();
    let answer = (): void => {};
    const asked = new Promise<void>((resolve) => {
      answer = resolve;
    });
    await page.route(/\/api\/usage\?.*by=configuration/, async (route) => {
      await asked;
      const lobby = { configuration: 'lobby', players: [1, 2], cpuPercent: [null, null] };
      await route.fulfill({ json: { series: [lobby] } });
    });
    await page.reload();
    const tile = page.locator('.tile').filter({ hasText: 'Healthy' });
    await tile.waitFor();
    answer();
    await tile.locator('polyline[points*=","]').waitFor({ state: 'attached' });
  });

  async function openSignedIn() {
    const dashboard = await shared.open();
    await dashboard.signIn(shared.admin);
    return dashboard;
  }
});
