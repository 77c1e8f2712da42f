/** Rollouts in the dashboard: led from canary to end, held back and tried again. Needs `npm run build`. */
import type { Locator, Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { ConfigurationInput } from '../../../src/model/configuration.js';
import { expectAccessible } from '../../support/dashboard/accessibility.js';
import { CHROMIUM } from '../../support/dashboard/browser.js';
import type { DashboardPage } from '../../support/dashboard/dashboard-page.js';
import { SIZES, THEMES } from '../../support/dashboard/every-screen.js';
import { type SharedDashboard, shareDashboard } from '../../support/dashboard/shared-dashboard.js';
import { typeOver } from '../../support/dashboard/type-over.js';
import { until } from '../../support/until.js';

const ROLLING = { strategy: 'rolling', minReadySeconds: 0 } as const;
const rolloutSchema = z.object({ state: z.string(), cause: z.string() });

describe.skipIf(CHROMIUM === undefined)('rollouts in Chromium (skipped where there is none)', () => {
  let shared: SharedDashboard;
  shareDashboard((one) => {
    shared = one;
  });

  it('leads a rollout by keyboard: pauses it, lets it go on, promotes it, and shows nothing of it when it is complete', async () => {
    const fields = { minimumServiceCount: 2, update: { ...ROLLING, canary: 1, promote: 'manual' } } as const;
    configure('sleep 1000', fields);
    await shared.daemon.untilOnline('arena', 2);
    const dashboard = await openSignedIn('#/configurations/arena');
    const { page } = dashboard;
    const panel = panelOf(page);
    await rowsWith(page, 'Online').nth(1).waitFor();
    expect(await panel.count()).toBe(0);

    await page.getByRole('link', { name: 'Edit', exact: true }).click();
    await typeOver(page, 'sleep 1000', 'sleep 2000');
    await page.getByRole('button', { name: 'Review and save' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
    // The page goes to the rollout by itself.
    await panel.getByText('Waits for promotion').waitFor();
    const cells = panel.getByRole('list', { name: 'Instances of the rollout' });
    await expect
      .poll(() => cells.getByRole('link').allInnerTexts())
      .toContainEqual(expect.stringContaining('healthy'));
    await lookAt(dashboard, 'rollout-canary');
    await panel.getByRole('button', { name: 'Pause' }).focus();
    await page.keyboard.press('Enter');
    await panel.getByText('Paused', { exact: true }).waitFor();
    expect(await rolloutOf('arena')).toMatchObject({ state: 'paused' });
    // The button has kept the focus.
    await page.keyboard.press('Enter');
    await panel.getByText('Waits for promotion').waitFor();

    await dashboard.goTo('#/overview');
    // Its own sentence, or that of `why` once it is there.
    await page.getByText(/its rollout waits for promotion/).waitFor();
    await lookAt(dashboard, 'rollout-attention');
    await page.getByRole('link', { name: 'Show rollout' }).click();
    await panel.getByRole('button', { name: 'Promote' }).focus();
    await page.keyboard.press('Enter');
    await panel.waitFor({ state: 'detached' });
    await rowsWith(page, 'Online').nth(1).waitFor();
    expect(await rolloutOf('arena')).toMatchObject({ state: 'complete' });
  });

  it('shows why a rollout failed and what new instances are made from, tries it again, and shows keys to read no buttons', async () => {
    configure('sleep 1000', { update: ROLLING });
    await shared.daemon.untilOnline('arena', 1);
    const never = { readiness: { logLine: 'never', timeoutSeconds: 3600 } };
    configure('sleep 2000', { ...never, update: { ...ROLLING, progressSeconds: 1 } });
    const dashboard = await openSignedIn('#/configurations/arena');
    const { page } = dashboard;
    const panel = panelOf(page);
    await panel.getByText('Failed', { exact: true }).waitFor();
    await panel.getByText(/no new instance became good within 1 s/).waitFor();
    await panel.getByText('New instances get the former content', { exact: false }).waitFor();
    const cells = panel.getByRole('list', { name: 'Instances of the rollout' }).getByRole('link');
    // The instance of the former content is not new, and the one that failed is not healthy.
    await expect.poll(() => cells.allInnerTexts().then((all) => all.map((one) => one.trim())[0])).toBe('old');
    expect((await cells.allInnerTexts()).join(' ')).not.toContain('healthy');
    await lookAt(dashboard, 'rollout-failed');
    await panel.getByRole('link', { name: 'Roll back' }).click();
    await page.getByRole('row').filter({ hasText: 'In force' }).waitFor();
    // Only the good content can be gone back to: that of the file has "Try again".
    expect(await page.getByRole('button', { name: 'Roll back to this' }).count()).toBe(1);
    await lookAt(dashboard, 'rollout-failed-history');
    await rowsWith(page, 'In force').getByRole('button', { name: 'Roll back to this' }).click();
    await page.getByRole('dialog', { name: 'Roll arena back to content' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('link', { name: 'State', exact: true }).click();

    const reader = await shared.open();
    await reader.signIn(await makeKey('READ'));
    await reader.page
      .getByText(/rollout.* failed: no new instance became good/)
      .first()
      .waitFor();
    await reader.goTo('#/configurations/arena');
    await panelOf(reader.page).getByText('Failed', { exact: true }).waitFor();
    expect(await panelOf(reader.page).getByRole('button').count()).toBe(0);

    await panel.getByRole('button', { name: 'Try again' }).click();
    await until(async () => expect(await rolloutOf('arena')).toMatchObject({ cause: 'retry' }));
    configure('sleep 3000', { update: ROLLING });
    await panel.waitFor({ state: 'detached' });
    await shared.daemon.untilOnline('arena', 1);
  });

  function configure(command: string, fields: Partial<ConfigurationInput>): void {
    shared.daemon.configure('arena', { minimumServiceCount: 1, command, ...fields });
  }

  async function openSignedIn(address: string): Promise<DashboardPage> {
    const dashboard = await shared.open();
    await dashboard.signIn(shared.admin);
    await dashboard.goTo(address);
    return dashboard;
  }

  async function makeKey(scope: string): Promise<string> {
    const made = await shared.daemon.api.send('POST', '/keys', { label: 'reader', scope });
    return z.object({ token: z.string() }).parse(JSON.parse(made.text)).token;
  }

  async function rolloutOf(name: string): Promise<z.output<typeof rolloutSchema>> {
    const { text } = await shared.daemon.api.send('GET', `/rollouts/${name}`);
    return rolloutSchema.parse(JSON.parse(text));
  }
});

function panelOf(page: Page): Locator {
  return page.locator('.panel').filter({ has: page.getByRole('heading', { name: 'Rollout', exact: true }) });
}

function rowsWith(page: Page, words: string): Locator {
  return page.getByRole('row').filter({ hasText: words });
}

/** At a desk and on a phone, light and dark. */
async function lookAt(dashboard: DashboardPage, name: string): Promise<void> {
  for (const { size, width, height } of SIZES.toReversed()) {
    await dashboard.page.setViewportSize({ width, height });
    for (const theme of THEMES.toReversed()) {
      await dashboard.page.emulateMedia({ colorScheme: theme });
      await dashboard.shoot(`${name}-${size}-${theme}`);
      await expectAccessible(
        dashboard.page,
        `${name}, ${size}, ${theme}`,
        theme === 'light' ? 'all' : 'colours',
      );
    }
    expect(await dashboard.overflow(), `${name} is wider than the window`).toBeLessThanOrEqual(0);
  }
}
