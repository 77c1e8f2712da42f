/**
 * The dashboard in other hands: keys that may do less, an operator without a mouse, and names and outputs that would do
 * harm. All screens of the navigation are walked through. Needs `npm run build`.
 */
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { NAVIGATION } from '../../../src/dashboard/app/screen-names.js';
import { CHROMIUM } from '../../support/dashboard/browser.js';
import { everyScreen } from '../../support/dashboard/every-screen.js';
import { type SharedDashboard, shareDashboard } from '../../support/dashboard/shared-dashboard.js';
import { until } from '../../support/until.js';

/** As markup it would load an address, run a script, and turn what follows round. */
const HOSTILE = '<img src=x onerror="window.harmed=1">\u202Egnp.txt';
/** Printed by a program: markup, a colour, a title of the terminal, a link, and a mark that turns text round. */
const PRINTED = String.raw`\033[31m<script>window.harmed=1</script>\033[0m \033]0;harm\007 \033]8;;https://harm.example\007link\033]8;;\007 \342\200\256abc`;
const MOST_TABS = 60;

describe.skipIf(CHROMIUM === undefined)('the dashboard in Chromium (skipped where there is none)', () => {
  let shared: SharedDashboard;
  shareDashboard((one) => {
    shared = one;
  });

  it.each([
    { scope: 'READ', canOperate: false },
    { scope: 'PLAN', canOperate: false },
    { scope: 'OPERATE', canOperate: true },
  ])(
    'shows a key with scope $scope what it may do, and asks for nothing that is refused',
    async ({ scope, canOperate }) => {
      await runLobbyAndArena();
      const dashboard = await openWith({ scope });
      const { page } = dashboard;
      for (const screen of await screensOf('lobby')) await dashboard.turnTo(screen);
      await dashboard.turnTo('instances');
      await page.getByRole('row').filter({ hasText: 'arena' }).waitFor();
      expect((await page.getByRole('checkbox').count()) > 0).toBe(canOperate);
      expect(await page.getByRole('button', { name: 'New instance' }).count()).toBe(canOperate ? 1 : 0);
      expect(await page.getByRole('button', { name: /run a command/ }).count()).toBe(0);
      await page.keyboard.press('?');
      await page.getByRole('dialog', { name: 'Keyboard' }).waitFor();
      await page.keyboard.press('Escape');
      await page.keyboard.press('Control+k');
      const palette = page.getByRole('dialog', { name: 'Go to' });
      await palette.getByRole('combobox').fill('arena');
      await palette.getByRole('option', { name: /arena\s*Configuration/ }).waitFor();
      expect(await palette.getByRole('button', { name: 'Run' }).count()).toBe(0);
      await page.keyboard.press('Enter');
      await page.waitForURL(/#\/configurations\/arena$/);
    },
  );

  it('shows a key that is restricted to configurations only these, and says what it does not show', async () => {
    await runLobbyAndArena();
    const dashboard = await openWith({ scope: 'ALL', configurations: ['lobby'] });
    const { page } = dashboard;
    for (const screen of await screensOf('lobby')) await dashboard.turnTo(screen);
    await dashboard.turnTo('instances');
    await page.getByRole('row').filter({ hasText: 'lobby' }).waitFor();
    expect(await page.getByText('arena').count()).toBe(0);
    expect(await page.getByRole('link', { name: 'Templates' }).count()).toBe(0);
    await dashboard.goTo('#/templates');
    await page.getByText('Your key does not show this').waitFor();
    expect(await page.getByRole('button', { name: /run a command/ }).count()).toBe(0);
  });

  it('is used by keyboard alone: signs in, finds and stops an instance, opens another one, signs out', async () => {
    await runLobbyAndArena();
    const dashboard = await shared.open({}, { statuses: [401] });
    const { page } = dashboard;
    await dashboard.goTo();
    await tabTo(page, 'Key');
    await page.keyboard.type(shared.admin);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
    await tabTo(page, 'Instances');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Instances' }).waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('lobby');
    await expect.poll(() => page.getByRole('row').filter({ hasText: 'arena' }).count()).toBe(0);
    await tabTo(page, 'Instances', 'grid');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Home');
    await page.keyboard.press('Space');
    await page.getByText('1 instance selected').waitFor();
    await tabTo(page, 'Stop', undefined, 'Shift+Tab');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog', { name: 'Stop 1 instance?' }).waitFor();
    await tabTo(page, 'Stop');
    await page.keyboard.press('Enter');
    await page.getByRole('row').filter({ hasText: 'Stopped' }).waitFor();
    await tabTo(page, 'Instances', 'grid');
    await page.keyboard.press('Home');
    await page.keyboard.press('Enter');
    await page.waitForURL(/#\/instances\/[a-z0-9]+$/);
    await tabTo(page, 'Sign out', undefined, 'Shift+Tab');
    await page.keyboard.press('Enter');
    await page.getByText('You are signed out.').waitFor();
  });

  it('shows hostile names, outputs and records as text, on every screen', async () => {
    const { daemon } = shared;
    daemon.configure('lobby', {
      command: `printf '${PRINTED}\\n'; while sleep 1; do :; done`,
      minimumServiceCount: 1,
    });
    daemon.configure('crash', { command: `printf '${PRINTED}\\n'; exit 3`, minimumServiceCount: 1 });
    daemon.failing.add('crash');
    daemon.writeConfigurationFile(`${HOSTILE}.json`, `{ "name": ${JSON.stringify(HOSTILE)} }`);
    daemon.template('examples', 'hello', { [HOSTILE]: HOSTILE });
    await daemon.api.send('DELETE', `/instances/${encodeURIComponent(HOSTILE)}`);
    const [lobby] = await daemon.untilOnline('lobby', 1);
    await daemon.untilMessage('crash', /exit/);
    await daemon.untilLogged(lobby?.id ?? '', /harmed/);
    const dashboard = await shared.open();
    const { page } = dashboard;
    await dashboard.signIn(shared.admin);
    for (const screen of await screensOf('lobby')) {
      await dashboard.turnTo(screen);
      await expectHarmless(page, screen);
    }
    await dashboard.turnTo('overview');
    await page.getByText(`${HOSTILE}.json`).first().waitFor();
    await page.keyboard.press('Control+k');
    await page.getByRole('dialog').getByRole('textbox').or(page.getByRole('combobox')).first().waitFor();
    await page.keyboard.type(`instance logs '${HOSTILE}'`);
    await page.keyboard.press('Enter');
    await expect.poll(() => page.getByRole('dialog').textContent()).toContain(HOSTILE.slice(0, 10));
    await expectHarmless(page, 'the palette');
  });

  async function runLobbyAndArena(): Promise<void> {
    for (const name of ['lobby', 'arena'])
      shared.daemon.configure(name, { command: 'sleep 1000', minimumServiceCount: 1 });
    for (const name of ['lobby', 'arena']) await shared.daemon.untilOnline(name, 1);
    shared.daemon.template('examples', 'hello', { 'server.txt': 'hello' });
  }

  /** All screens; of those below the navigation one each. */
  async function screensOf(configuration: string): Promise<readonly string[]> {
    const [instance] = await shared.daemon.api.instances(configuration);
    const names = { instance: instance?.id ?? '', configuration, node: 'node-a', template: 'examples/hello' };
    const found = everyScreen(names);
    expect(found.length).toBeGreaterThan(NAVIGATION.length);
    return found;
  }

  /** A page that is signed in with a new key. */
  async function openWith(key: { readonly scope: string; readonly configurations?: readonly string[] }) {
    const label = `of-test-${Date.now()}`;
    const made = await shared.daemon.api.send('POST', '/keys', { label, ...key });
    const dashboard = await shared.open();
    await dashboard.signIn(z.object({ token: z.string() }).parse(JSON.parse(made.text)).token);
    return dashboard;
  }
});

/** Presses Tab until what has this name has the focus. The focus is to be seen wherever it goes. */
async function tabTo(page: Page, name: string, role?: string, key = 'Tab'): Promise<void> {
  const focused = z.object({ name: z.string(), role: z.string().nullable(), isVisible: z.boolean() });
  const seen: string[] = [];
  for (let tabs = 0; tabs < MOST_TABS; tabs++) {
    await page.keyboard.press(key);
    const now = focused.parse(
      await page.evaluate(`(() => {
        const { activeElement: one } = document;
        const label = one.getAttribute('aria-label') ?? one.labels?.[0]?.textContent ?? one.textContent;
        const { outlineStyle, outlineWidth } = getComputedStyle(one);
        const isVisible = one === document.body || (outlineStyle !== 'none' && outlineWidth !== '0px');
        return { name: label.trim(), role: one.getAttribute('role'), isVisible };
      })()`),
    );
    seen.push(now.name.slice(0, 40));
    expect(now.isVisible, `the focus on "${now.name}" is not to be seen`).toBe(true);
    if (now.name === name && (role === undefined || now.role === role)) return;
  }
  throw new Error(`${key} does not come to ${name}: ${seen.join(' | ')}`);
}

/** Nothing of it became markup or ran, and no control character is in the page. */
async function expectHarmless(page: Page, where: string): Promise<void> {
  await until(async () => expect(await page.evaluate('document.readyState')).toBe('complete'));
  expect(await page.evaluate('window.harmed'), where).toBeUndefined();
  const made = page.locator('body img:not(.mark), body iframe, body script, a[href*="harm.example"]');
  expect(await made.count(), `markup in ${where}`).toBe(0);
  expect(await page.locator('body').innerText(), where).not.toMatch(/[\u001B\u0007]/);
}
