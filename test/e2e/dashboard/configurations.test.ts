/** The configurations in the dashboard: made, edited, broken, changed by somebody else meanwhile. Needs `npm run build`. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { CHROMIUM } from '../../support/dashboard/browser.js';
import type {
  DashboardPage,
  DashboardPageOptions,
  Provoked,
} from '../../support/dashboard/dashboard-page.js';
import { type SharedDashboard, shareDashboard } from '../../support/dashboard/shared-dashboard.js';
import { typeOver } from '../../support/dashboard/type-over.js';

describe.skipIf(CHROMIUM === undefined)('configurations in Chromium (skipped where there is none)', () => {
  let shared: SharedDashboard;
  shareDashboard((one) => {
    shared = one;
  });
  beforeEach(async () => {
    shared.daemon.configure('lobby', { command: 'sleep 1000', minimumServiceCount: 2 });
    await shared.daemon.untilOnline('lobby', 2);
  });

  it('edits a configuration to 4, says what that does, and shows four', async () => {
    const dashboard = await openSignedIn('#/configurations');
    const { page } = dashboard;
    await page.getByRole('link', { name: 'lobby' }).click();
    await page.getByRole('link', { name: 'Edit', exact: true }).click();
    await typeOver(page, ': 2', ': 4');
    await page.getByText('No faults').waitFor();
    await dashboard.shoot('configuration-edit');
    await page.getByRole('button', { name: 'Review and save' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('2 instances are created.').waitFor();
    await dialog.getByRole('row').filter({ hasText: 'minimumServiceCount' }).getByText('at once').waitFor();
    await dashboard.shoot('configuration-review');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByText('lobby is saved and in force.').waitFor();
    await page.getByRole('link', { name: 'State', exact: true }).click();
    const rows = page.getByRole('row').filter({ hasText: 'Online' });
    await expect.poll(() => rows.count()).toBe(4);
    await dashboard.shoot('configuration-state');
    expect(fileOf('lobby')).toMatchObject({ minimumServiceCount: 4, command: 'sleep 1000' });
  });

  it('shows the line of a fault, completes, and saves nothing broken; what was typed survives a reload', async () => {
    const before = fileOf('lobby');
    const dashboard = await openSignedIn('#/configurations/lobby/edit');
    const { page } = dashboard;
    await typeOver(page, ': 2', ': -2');
    const place = page.getByRole('button', { name: /^Line 7, column/ });
    await place.waitFor();
    await page.getByRole('button', { name: 'Review and save' }).click();
    await page.getByText('Not saved: 1 fault to fix first.').waitFor();
    await dashboard.shoot('configuration-fault');
    expect(await page.getByRole('dialog').count()).toBe(0);
    expect(fileOf('lobby')).toEqual(before);
    page.on('dialog', (dialog) => void dialog.accept());
    await page.reload();
    await page.getByText('This is your text from before. It is not saved.').waitFor();
    await typeOver(page, ': -2', ': 3,\nrestartP');
    await page.getByRole('option', { name: /restartPolicy/ }).click();
    await dashboard.shoot('configuration-completed');
    await page.getByText('No faults').waitFor();
    expect(await page.locator('.cm-content').innerText()).toContain('"restartPolicy": "always"');
  });

  it('does not save over what somebody else saved meanwhile, and lets the person decide', async () => {
    const dashboard = await openSignedIn('#/configurations/lobby/edit', {}, { statuses: [412] });
    const { page } = dashboard;
    await typeOver(page, 'sleep 1000', 'sleep 2000');
    await page.getByRole('button', { name: 'Review and save' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('2 instances go on with the older content').waitFor();
    shared.daemon.configure('lobby', { command: 'sleep 3000', minimumServiceCount: 2 });
    await expect
      .poll(async () => (await shared.daemon.api.send('GET', '/configurations/lobby')).text)
      .toContain('sleep 3000');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.getByRole('heading', { name: 'Changed meanwhile' }).waitFor();
    await dialog.getByText('sleep 3000').waitFor();
    await dashboard.shoot('configuration-conflict');
    expect(fileOf('lobby')).toMatchObject({ command: 'sleep 3000' });
    await dialog.getByRole('button', { name: 'Save mine over theirs' }).click();
    await page.getByText('lobby is saved and in force.').waitFor();
    expect(fileOf('lobby')).toMatchObject({ command: 'sleep 2000' });
  });

  it('makes one from an example, shows a broken file with its line, and deletes with the instances named', async () => {
    const dashboard = await openSignedIn('#/configurations', {}, { statuses: [404] });
    const { page } = dashboard;
    await page.getByRole('button', { name: 'New configuration' }).click();
    await page.getByLabel('Name', { exact: true }).fill('worker');
    await page.getByLabel('Begin with').selectOption('worker');
    await dashboard.shoot('configuration-create');
    await page.getByRole('button', { name: 'Write it' }).click();
    await page.getByRole('button', { name: 'Review and save' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
    const rows = page.getByRole('row').filter({ hasText: 'Online' });
    await expect.poll(() => rows.count()).toBe(1);
    const [worker] = await shared.daemon.api.instances('worker');
    shared.daemon.writeConfigurationFile('odd.json', '{\n  "command": 7\n}\n');
    await dashboard.goTo('#/configurations');
    await page
      .getByRole('row')
      .filter({ hasText: 'odd' })
      .getByText(/line 2:\d+: command/)
      .waitFor();
    await dashboard.shoot('configurations');
    await dashboard.goTo('#/configurations/odd/edit');
    await typeOver(page, '7', '"sleep 1000"');
    await page.getByRole('button', { name: 'Review and save' }).click();
    await page.getByRole('dialog').getByText('This replaces the text of the broken file').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
    await page.getByText('odd is saved and in force.').waitFor();
    await dashboard.goTo('#/configurations/worker');
    await page.getByRole('button', { name: 'Delete' }).click();
    await page
      .getByRole('dialog')
      .getByText(worker?.id ?? 'no instance')
      .waitFor();
    await dashboard.shoot('configuration-delete');
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('row').filter({ hasText: 'worker' }).getByText('Deleted').waitFor();
    expect(await shared.daemon.api.instances('worker')).toHaveLength(1);
  });

  it('shows, edits and saves a configuration whose file lies in a subdirectory, and names a broken one', async () => {
    const { configurations } = shared.daemon.paths;
    mkdirSync(join(configurations, 'eu'));
    const arena = join(configurations, 'eu/arena.json');
    writeFileSync(arena, '{ "command": "sleep 1000", "minimumServiceCount": 0 }\n');
    writeFileSync(join(configurations, 'eu/bent.json'), '{\n  "command": 7\n}\n');
    const dashboard = await openSignedIn('#/configurations');
    const { page } = dashboard;
    const bent = page.getByRole('row').filter({ hasText: 'eu/bent.json' });
    await bent.getByText(/line 2:\d+: command/).waitFor();
    await bent.getByRole('link', { name: 'bent', exact: true }).click();
    await page
      .getByText(/eu\/bent\.json/)
      .first()
      .waitFor();
    await dashboard.goTo('#/configurations/arena/edit');
    await typeOver(page, 'sleep 1000', 'sleep 2000');
    await page.getByText('No faults').waitFor();
    await page.getByRole('button', { name: 'Review and save' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
    await page.getByText('arena is saved and in force.').waitFor();
    expect(readFileSync(arena, 'utf8')).toBe('{ "command": "sleep 2000", "minimumServiceCount": 0 }\n');
    // The form and the text are views of the same.
    const form = page.getByRole('form', { name: 'Form' });
    await form.getByLabel('RAM each, in MB').fill('96');
    await form.getByLabel('First port').fill('9000');
    await form.getByLabel('First port').fill('');
    await form.getByLabel('Name of a variable').fill('MOTD');
    await page.keyboard.press('Enter');
    await form.getByLabel('MOTD').fill('good day');
    // A name that is there already keeps its value.
    await form.getByLabel('Name of a variable').fill('MOTD');
    await page.keyboard.press('Enter');
    await page.locator('.cm-line').filter({ hasText: '"MOTD": "good day"' }).waitFor();
    await typeOver(page, 'good day', 'hello');
    await expect.poll(() => form.getByLabel('MOTD').inputValue()).toBe('hello');
    await page.getByText('No faults').waitFor();
    await dashboard.shoot('configuration-form');
    await page.getByRole('button', { name: 'Review and save' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
    await expect
      .poll(() => JSON.parse(readFileSync(arena, 'utf8')))
      .toEqual({
        command: 'sleep 2000',
        minimumServiceCount: 0,
        ramMB: 96,
        environmentVariables: { MOTD: 'hello' },
      });
    await page.getByRole('link', { name: 'State', exact: true }).click();
    await page.getByText('eu/arena.json').waitFor();
    rmSync(join(configurations, 'eu'), { recursive: true });
  });

  async function openSignedIn(
    address: string,
    options: Partial<DashboardPageOptions> = {},
    provoked: Provoked = {},
  ): Promise<DashboardPage> {
    const dashboard = await shared.open(options, provoked);
    await dashboard.signIn(shared.admin);
    await dashboard.goTo(address);
    return dashboard;
  }

  function fileOf(name: string): unknown {
    return JSON.parse(readFileSync(join(shared.daemon.paths.configurations, `${name}.json`), 'utf8'));
  }
});
