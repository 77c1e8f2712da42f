/** Jobs in the dashboard: a run with its parameters, and how one that failed or ran too long is told. Needs `npm run build`. */
import { describe, expect, it } from 'vitest';
import type { InstanceInfo } from '../../../src/model/instance.js';
import { CHROMIUM } from '../../support/dashboard/browser.js';
import { SIZES, THEMES } from '../../support/dashboard/every-screen.js';
import { type SharedDashboard, shareDashboard } from '../../support/dashboard/shared-dashboard.js';
import { until } from '../../support/until.js';

const JOB = {
  minimumServiceCount: 0,
  restartPolicy: 'never',
  command: 'echo "day $DAY"; exit $CODE',
} as const;

describe.skipIf(CHROMIUM === undefined)('jobs in Chromium (skipped where there is none)', () => {
  let shared: SharedDashboard;
  shareDashboard((one) => {
    shared = one;
  });

  it('runs a job with the parameters that it asks for, and tells of a run that failed', async () => {
    const parameters = { DAY: {}, CODE: { default: '3' } };
    shared.daemon.configure('report', { ...JOB, job: { parameters } });
    const dashboard = await shared.open();
    await dashboard.signIn(shared.admin);
    await dashboard.goTo('#/configurations/report');
    const { page } = dashboard;
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    const dialog = page.getByRole('dialog', { name: 'Run report?' });
    expect(await dialog.getByLabel('CODE').inputValue()).toBe('3');
    await dialog.getByRole('button', { name: 'Run' }).click();
    await dialog.getByText('It has no usual value').waitFor();
    await look('run');
    await dialog.getByLabel('DAY').fill('monday');
    await dialog.getByRole('button', { name: 'Run' }).click();
    // The page goes to the log of the run.
    await page.getByText('day monday').waitFor();
    await page.locator('.instance-about').getByText('Failed').waitFor();
    await look('failed');
    await dashboard.goTo('#/configurations/report');
    await page
      .getByText(/has failed, and restartPolicy does not start it again: its process exited with code 3/)
      .waitFor();
    expect(await page.getByText('as it should be').count()).toBe(0);
    expect(await page.getByRole('button', { name: 'New instance' }).count()).toBe(0);
    await dashboard.goTo('#/overview');
    await page.locator('.concern').getByText('Failed', { exact: true }).waitFor();

    async function look(name: string): Promise<void> {
      for (const { size, width, height } of SIZES) {
        await page.setViewportSize({ width, height });
        for (const theme of THEMES) {
          await page.emulateMedia({ colorScheme: theme });
          await dashboard.shoot(`job-${name}-${size}-${theme}`);
        }
      }
    }
  });

  it('says of a run that was too long that it timed out, and of one that wrote nothing that there are no lines', async () => {
    shared.daemon.configure('slow', { ...JOB, command: 'exec sleep 1000', job: { timeoutSeconds: 1 } });
    const { text } = await shared.daemon.api.send('POST', '/configurations/slow/run', { parameters: {} });
    const { id }: InstanceInfo = JSON.parse(text);
    await until(async () =>
      expect(await shared.daemon.api.instance(id)).toMatchObject({ reason: 'timed-out', state: 'STOPPED' }),
    );
    const dashboard = await shared.open();
    await dashboard.signIn(shared.admin);
    await dashboard.goTo(`#/instances/${id}`);
    const { page } = dashboard;
    await page.getByText('No lines', { exact: true }).waitFor();
    await page.getByText('ended at its time-out of 1 s').waitFor();
    await dashboard.goTo(`#/instances/${id}?tab=why`);
    await page.getByText(/has timed out: it ended at its time-out of 1 s/).waitFor();
    await dashboard.goTo('#/instances');
    await page.getByRole('row').filter({ hasText: id }).getByText('Timed out').waitFor();
    await dashboard.goTo('#/nodes');
    // A run that has ended holds nothing of its node.
    await page.locator('.node-card').getByText('0 instances').waitFor();
  });

  it('counts down to the next start in the list of instances', async () => {
    shared.daemon.configure('arena', { command: 'exit 2', minimumServiceCount: 1 });
    const dashboard = await shared.open();
    await dashboard.signIn(shared.admin);
    await dashboard.goTo('#/instances');
    const note = dashboard.page.locator('.grid-note');
    await note.filter({ hasText: /restart \d+ in [4-9] s/ }).waitFor({ timeout: 60_000 });
    const first = await note.innerText();
    const restart = /restart \d+/.exec(first)?.[0] ?? '';
    await expect
      .poll(() => note.innerText(), { timeout: 20_000 })
      .toMatch(new RegExp(`${restart} in [0-3] s`));
  });
});
