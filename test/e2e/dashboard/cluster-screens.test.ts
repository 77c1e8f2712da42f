/** Nodes, access and the palette of the dashboard, on a real cluster. Needs `npm run build`. */
import type { Page } from 'playwright-core';
import { afterEach, describe, expect, it } from 'vitest';
import { Member } from '../../support/cluster/member.js';
import { CHROMIUM } from '../../support/dashboard/browser.js';
import type { DashboardPage } from '../../support/dashboard/dashboard-page.js';
import { type SharedDashboard, shareDashboard } from '../../support/dashboard/shared-dashboard.js';
import { until } from '../../support/until.js';

describe.skipIf(CHROMIUM === undefined)('the dashboard in Chromium (skipped where there is none)', () => {
  let shared: SharedDashboard;
  let member: Member | undefined;
  shareDashboard((one) => {
    shared = one;
  });
  afterEach(async () => {
    await member?.finish();
    member = undefined;
  });

  it('adds a node with the command that it shows, drains it while one looks, and forgets it', async () => {
    const dashboard = await openSignedIn('#/nodes');
    const { page } = dashboard;
    await page.locator('.node-row').filter({ hasText: 'node-a' }).waitFor();
    await page.getByRole('link', { name: 'node-a', exact: true }).click();
    await page.getByRole('button', { name: 'Drain', exact: true }).click();
    await page.getByRole('dialog').getByText('nothing can be moved', { exact: false }).waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
    await dashboard.goTo('#/nodes');
    member = await joinFrom(page);
    shared.daemon.configure('lobby', { command: 'sleep 1000', minimumServiceCount: 4 });
    await shared.daemon.untilOnline('lobby', 4);

    await page.locator('.node-row').filter({ hasText: 'far' }).locator('.cell.tone-good').nth(1).waitFor();
    await page.locator('.cell').first().focus();
    await page.getByText('lobby: 4 instances on 2 nodes').waitFor();
    await dashboard.shoot('nodes-two');

    await page.getByRole('link', { name: 'far', exact: true }).click();
    await page.getByRole('button', { name: 'Cordon', exact: true }).click();
    await page.getByText('Cordoned', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Uncordon' }).click();
    await page.getByRole('button', { name: 'Cordon', exact: true }).waitFor();

    const busy = (await shared.daemon.api.instances('lobby')).find(
      ({ wrapperNodeId }) => wrapperNodeId === 'far',
    );
    await players(busy?.id ?? '', 3);
    await drain(page);
    await page.getByText('Draining: 1 left').waitFor();
    await page.getByRole('button', { name: 'Cancel drain' }).click();
    await page.getByRole('button', { name: 'Cordon', exact: true }).waitFor();
    await drain(page);
    await page.getByText('Draining: 1 left').waitFor();
    await page.getByText(`waiting for 3 players on ${busy?.id}`, { exact: false }).first().waitFor();
    await dashboard.shoot('node-draining');
    await players(busy?.id ?? '', 0);
    await page.getByText('Everything is moved.', { exact: false }).waitFor();
    await page.getByText('Nothing is placed here').waitFor();

    await page.getByRole('button', { name: 'Forget', exact: true }).click();
    await page
      .getByRole('dialog')
      .getByRole('checkbox', { name: /Also when it is connected/ })
      .check();
    await page.getByRole('dialog').getByRole('button', { name: 'Forget', exact: true }).click();
    await page.getByText('far is forgotten', { exact: false }).waitFor();
    await expect.poll(() => page.locator('.node-row').count()).toBe(1);
  });

  it('makes a key that is shown once, and whoever used it is out at once when it is revoked', async () => {
    const owner = await openSignedIn('#/access');
    const token = await makeKey(owner, 'guest', 'READ');
    const guest = await shared.open({}, { statuses: [401] });
    await guest.signIn(token);
    await guest.goTo('#/access');
    await guest.page.getByRole('row').filter({ hasText: 'guest' }).getByText('yours').waitFor();
    expect(await guest.page.getByRole('button', { name: 'New key' }).count()).toBe(0);
    await guest.goTo('#/nodes');
    await guest.page.locator('.node-row').first().waitFor();
    expect(await guest.page.getByRole('button', { name: /Cordon|Add a node/ }).count()).toBe(0);

    const row = owner.page.getByRole('row').filter({ hasText: 'guest' });
    await row.getByRole('button', { name: 'Revoke' }).click();
    await owner.page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
    await guest.page.getByRole('heading', { name: 'Sign in to Drover' }).waitFor();
    await expect.poll(() => row.count()).toBe(0);

    await owner.page.getByRole('link', { name: 'Audit trail' }).click();
    await owner.page.getByRole('searchbox').fill('guest DELETE');
    await owner.page.getByRole('row').filter({ hasText: 'deleted key guest' }).first().waitFor();
    expect(owner.page.url()).toContain('find=guest+DELETE');
    await owner.page.getByRole('link', { name: 'Sessions', exact: true }).click();
    await owner.page.getByText('this one').waitFor();
  });

  it('completes and runs commands, asks before one that destroys, and knows the names of things', async () => {
    shared.daemon.configure('lobby', { command: 'sleep 1000', minimumServiceCount: 1 });
    const [lobby] = await shared.daemon.untilOnline('lobby', 1);
    const { page } = await openSignedIn();
    await page.keyboard.press('Control+k');
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('combobox').fill('instance li');
    await dialog.getByRole('option', { name: /^list/ }).waitFor();
    await page.keyboard.press('Tab');
    await expect.poll(() => dialog.getByRole('combobox').inputValue()).toBe('instance list ');
    await page.keyboard.press('Enter');
    await dialog
      .getByRole('log')
      .filter({ hasText: lobby?.id ?? '' })
      .waitFor();

    await dialog.getByRole('combobox').fill(`instance delete ${lobby?.id}`);
    await page.keyboard.press('Enter');
    const question = page.getByRole('dialog', { name: 'Run this command?' });
    await question.getByRole('button', { name: 'Cancel' }).click();
    expect(await shared.daemon.api.instances('lobby')).toHaveLength(1);
    await dialog.getByRole('combobox').fill('');
    await page.keyboard.press('ArrowUp');
    expect(await dialog.getByRole('combobox').inputValue()).toBe('instance list');

    await dialog.getByRole('combobox').fill(lobby?.id ?? '');
    await dialog.getByRole('option', { name: /Instance/ }).waitFor();
    await page.keyboard.press('Enter');
    await expect.poll(() => page.url()).toContain(`#/instances/${lobby?.id}`);
    expect(await dialog.count()).toBe(0);
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keyboard' }).waitFor();
  });

  async function openSignedIn(address = ''): Promise<DashboardPage> {
    const dashboard = await shared.open();
    await dashboard.signIn(shared.admin);
    if (address !== '') await dashboard.goTo(address);
    return dashboard;
  }

  /** Makes a join token in the page, and lets a member join with the command that is shown. */
  async function joinFrom(page: Page): Promise<Member> {
    await page.getByRole('button', { name: 'Add a node' }).click();
    await page.getByRole('button', { name: 'Create the token' }).click();
    const command = (await page.locator('.shown-once').textContent()) ?? '';
    const [, token = '', master = ''] = /^drover join (\S+) --master (\S+) /.exec(command) ?? [];
    const joining = await Member.create();
    member = joining;
    await joining.join(token, master, 'far');
    joining.start();
    await page.getByText('far joined').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Close' }).click();
    return joining;
  }

  async function drain(page: Page): Promise<void> {
    await page.getByRole('button', { name: 'Drain', exact: true }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Drain', exact: true }).click();
  }

  async function players(id: string, count: number): Promise<void> {
    await shared.daemon.api.send('PUT', `/instances/${id}/state`, { state: 'ONLINE', players: count });
    await until(async () => {
      const instances = await shared.daemon.api.instances('lobby');
      expect(instances.find((one) => one.id === id)?.players ?? 0).toBe(count);
    });
  }

  async function makeKey({ page }: DashboardPage, label: string, scope: string): Promise<string> {
    await page.getByRole('button', { name: 'New key' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Create the key' }).click();
    await dialog.getByText('Enter a label.').waitFor();
    await dialog.getByLabel('Label').fill(label);
    await dialog.getByLabel('Scope').selectOption(scope);
    await dialog.getByRole('button', { name: 'Create the key' }).click();
    const token = (await dialog.locator('.shown-once').textContent()) ?? '';
    expect(token).toMatch(/^drv_/);
    await dialog.getByRole('button', { name: 'Close' }).click();
    return token;
  }
});
