/** Signing in to the dashboard by key and by link, in one tab and the next, and being out again. Needs `npm run build`. */
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { CHROMIUM } from '../../support/dashboard/browser.js';
import { type SharedDashboard, shareDashboard } from '../../support/dashboard/shared-dashboard.js';

describe.skipIf(CHROMIUM === undefined)('the dashboard in Chromium (skipped where there is none)', () => {
  let shared: SharedDashboard;
  shareDashboard((one) => {
    shared = one;
  });

  const sessions = async (): Promise<readonly unknown[]> =>
    JSON.parse((await shared.daemon.api.send('GET', '/sessions')).text);
  const overview = { level: 1, name: 'Overview' } as const;

  it('takes a key, shows the overview, and is out after the sign-out, on the server too', async () => {
    const before = await sessions();
    const dashboard = await shared.open({}, { statuses: [401] });
    await dashboard.signIn(shared.admin);
    const { page } = dashboard;
    expect(await sessions()).toHaveLength(before.length + 1);
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByText('You are signed out.').waitFor();
    expect(await sessions()).toEqual(before);
    await page.reload();
    await page.getByRole('heading', { name: 'Sign in to Drover' }).waitFor();
  });

  it('says what is wrong with a key', async () => {
    const { page } = await openAt('', [401]);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByText('Enter a key.').waitFor();
    await page.getByLabel('Key').fill('wrong');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').waitFor();
    expect(await page.getByRole('alert').textContent()).toMatch(/does not accept this key/);
  });

  it('takes the code of a link once, and not out of the address', async () => {
    const { code } = JSON.parse((await shared.daemon.api.send('POST', '/sessions/codes')).text);
    const { page } = await openAt(`#code=${code}`);
    await page.getByRole('heading', overview).waitFor();
    expect(page.url()).not.toContain(code);
    const other = await openAt(`#code=${code}`, [401]);
    await other.page.getByRole('heading', { name: 'Sign in to Drover' }).waitFor();
    expect(await other.page.locator('.sign-in .notice').textContent()).toMatch(
      /does not accept this key, code/,
    );
  });

  it('hands the session to another tab, and takes it from both', async () => {
    const before = (await sessions()).length;
    const first = await shared.open({}, { statuses: [401] });
    await first.signIn(shared.admin);
    const second = await shared.open({ context: first.context }, { statuses: [401] });
    await second.goTo('#/instances');
    await second.page.getByRole('heading', { level: 1, name: 'Instances' }).waitFor();
    expect(await sessions()).toHaveLength(before + 1);
    await second.page.getByRole('button', { name: 'Sign out' }).click();
    for (const { page } of [first, second]) await page.getByText('You are signed out.').waitFor();
  });

  it('is out at once, with the reason, when the session is revoked', async () => {
    const dashboard = await shared.open({}, { statuses: [401] });
    await dashboard.signIn(shared.admin);
    for (const { id } of z.array(z.object({ id: z.string() })).parse(await sessions()))
      await shared.daemon.api.send('DELETE', `/sessions/${id}`);
    await dashboard.page.getByRole('heading', { name: 'Sign in to Drover' }).waitFor();
    expect(await dashboard.page.locator('.sign-in .notice').textContent()).not.toBe('');
  });

  async function openAt(address: string, statuses: readonly number[] = []) {
    const dashboard = await shared.open({}, { statuses });
    await dashboard.goTo(address);
    return dashboard;
  }
});
