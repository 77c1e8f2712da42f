/**
 * How each screen looks: not wider than the window, nothing serious for axe, at a desk and on a phone, light and dark.
 * `npm run screenshots` keeps what it sees. Needs `npm run build`.
 */
import { describe, expect, it, vi } from 'vitest';
import { expectAccessible } from '../../support/dashboard/accessibility.js';
import { CHROMIUM } from '../../support/dashboard/browser.js';
import type { DashboardPage } from '../../support/dashboard/dashboard-page.js';
import { everyScreen, IS_FOR_PERSON, SIZES, THEMES } from '../../support/dashboard/every-screen.js';
import { type SharedDashboard, shareDashboard } from '../../support/dashboard/shared-dashboard.js';

// One test looks at all screens twice.
vi.setConfig({ testTimeout: 900_000 });

/** Fits no node: so many rows without a process. */
const HUGE = { command: 'true', ramMB: 16_000_000, minimumServiceCount: 300 };

describe.skipIf(CHROMIUM === undefined)('the dashboard in Chromium (skipped where there is none)', () => {
  let shared: SharedDashboard;
  shareDashboard((one) => {
    shared = one;
  });

  it.each(SIZES)('shows every screen well, light and dark, at a $size', async ({ size, ...window }) => {
    const { daemon } = shared;
    daemon.configure('lobby', { command: 'while sleep 1; do echo "a line"; done', minimumServiceCount: 3 });
    daemon.configure('broken', { command: 'false', minimumServiceCount: 1 });
    daemon.failing.add('broken');
    daemon.writeConfigurationFile('typo.json', '{\n  "name": "typo",\n  "command" "sleep 1"\n}\n');
    daemon.template('examples', 'hello', { 'server.txt': 'hello', 'plugins/a.yml': 'a: 1' });
    const [lobby] = await daemon.untilOnline('lobby', 3);
    await daemon.untilMessage('broken', /exit/);
    const dashboard = await shared.open(window);
    await dashboard.goTo();
    await dashboard.page.getByLabel('Key').waitFor();
    await lookAt(dashboard, `sign-in-${size}`);
    await dashboard.signIn(shared.admin);
    const names = { instance: lobby?.id ?? '', configuration: 'lobby', node: 'node-a' };
    for (const screen of everyScreen({ ...names, template: 'examples/hello' })) {
      // A fresh load of each address is seen at a desk.
      await (size === 'desk' ? dashboard.show(screen) : dashboard.turnTo(screen));
      // Not the id: the next run has another one.
      await lookAt(dashboard, `${screen.replace(names.instance, 'one').replaceAll(/\W/g, '-')}-${size}`);
    }
    // The wall shows lines of all three, as one log too.
    await dashboard.turnTo('wall?view=one&configuration=lobby');
    await expect
      .poll(() =>
        dashboard.page
          .locator('.wall-id')
          .allInnerTexts()
          .then((ids) => new Set(ids).size),
      )
      .toBe(3);
    // A removed instance keeps its lines on the wall.
    await dashboard.turnTo('wall?configuration=lobby');
    const removed = dashboard.page.getByRole('region', { name: names.instance });
    await removed.getByText('a line').first().waitFor();
    await daemon.api.send('DELETE', `/instances/${names.instance}`);
    await removed.getByText('Removed').waitFor();
    await removed.getByText('a line').first().waitFor();
    await openDialogs(dashboard, size);
  });

  it.each(SIZES)('teaches where there is nothing yet, at a $size', async ({ size, ...window }) => {
    const dashboard = await shared.open(window);
    await dashboard.signIn(shared.admin);
    for (const screen of ['overview', 'instances', 'configurations', 'templates']) {
      await dashboard.turnTo(screen);
      await lookAt(dashboard, `empty-${screen}-${size}`);
    }
  });

  // Costs much, and shows a person more than a test: `npm run screenshots` has it.
  it.runIf(IS_FOR_PERSON).each(SIZES)('has room for very many, at a $size', async ({ size, ...window }) => {
    shared.daemon.configure('huge', HUGE);
    shared.daemon.failing.add('huge');
    const dashboard = await shared.open(window);
    await dashboard.signIn(shared.admin);
    await dashboard.show('instances?group=state');
    await dashboard.page.getByText(`${HUGE.minimumServiceCount} instances`).waitFor();
    for (const screen of ['overview', 'instances', 'instances?group=configuration', 'nodes']) {
      await dashboard.show(screen);
      await lookAt(dashboard, `huge-${screen.replace(/\W/g, '-')}-${size}`);
    }
  });

  async function openDialogs(dashboard: DashboardPage, size: string): Promise<void> {
    const { page } = dashboard;
    await dashboard.show('instances');
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keyboard' }).waitFor();
    await lookAt(dashboard, `keys-${size}`);
    await page.keyboard.press('Escape');
    await page.getByRole('checkbox', { name: 'Select all rows' }).check();
    await page.getByRole('button', { name: 'Delete', exact: true }).click();
    await page.getByRole('dialog', { name: /^Delete \d/ }).waitFor();
    await lookAt(dashboard, `confirm-${size}`);
    await page.keyboard.press('Escape');
    await page.keyboard.press('Control+k');
    await page.getByRole('dialog').getByRole('textbox').or(page.getByRole('combobox')).first().waitFor();
    await lookAt(dashboard, `palette-${size}`);
    await page.keyboard.press('Escape');
  }

  async function lookAt(dashboard: DashboardPage, name: string): Promise<void> {
    expect(await dashboard.overflow(), `${name} is wider than the window`).toBeLessThanOrEqual(0);
    for (const theme of THEMES) {
      await dashboard.page.emulateMedia({ colorScheme: theme });
      await dashboard.shoot(`${name}-${theme}`);
      await expectAccessible(dashboard.page, `${name}, ${theme}`, theme === 'light' ? 'all' : 'colours');
    }
  }
});
