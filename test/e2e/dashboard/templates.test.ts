/** Templates in the dashboard: a zip is uploaded, a file edited, changed by somebody else, dropped and deleted. Needs `npm run build`. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { CHROMIUM } from '../../support/dashboard/browser.js';
import type { DashboardPage, Provoked } from '../../support/dashboard/dashboard-page.js';
import { type SharedDashboard, shareDashboard } from '../../support/dashboard/shared-dashboard.js';
import { zipOf } from '../../support/templates/zip-bytes.js';

describe.skipIf(CHROMIUM === undefined)('templates in Chromium (skipped where there is none)', () => {
  let shared: SharedDashboard;
  shareDashboard((one) => {
    shared = one;
  });
  beforeEach(() => {
    shared.daemon.template('games', 'survival', {
      'server.properties': 'motd=hello\n',
      'config/game.json': '{}\n',
    });
  });

  it('uploads a zip and shows its files, and downloads all of them', async () => {
    const dashboard = await openSignedIn('#/templates');
    const { page } = dashboard;
    await page.getByRole('link', { name: 'games/survival' }).click();
    await page.getByRole('link', { name: 'server.properties' }).waitFor();
    const zip = zipOf([
      { name: 'plugins/one.yml', content: 'one: 1\n' },
      { name: 'plugins/<b>two.yml', content: 'two: 2\n' },
    ]);
    await page.getByLabel('Files, or a zip…').setInputFiles({
      name: 'pack.zip',
      mimeType: 'application/zip',
      buffer: zip,
    });
    await page.getByRole('dialog').getByText('pack.zip').waitFor();
    await dashboard.shoot('template-upload');
    await page.getByRole('dialog').getByRole('button', { name: 'Upload' }).click();
    await page.getByRole('link', { name: '<b>two.yml' }).waitFor();
    expect(textOf('plugins/one.yml')).toBe('one: 1\n');
    await page.getByRole('link', { name: 'one.yml', exact: true }).click();
    await page.locator('.cm-line').filter({ hasText: 'one: 1' }).waitFor();
    await dashboard.shoot('template-file');
    const download = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Download as zip' }).click();
    expect((await download).suggestedFilename()).toBe('games-survival.zip');
  });

  it('saves a file as it was read, and lets the person decide when somebody else changed it', async () => {
    const dashboard = await openSignedIn('#/templates/games/survival?file=server.properties', {
      statuses: [412],
    });
    const { page } = dashboard;
    const line = page.locator('.cm-line').filter({ hasText: 'motd' });
    await line.click();
    await page.keyboard.press('End');
    await page.keyboard.type(' mine');
    writeFileSync(fileOf('server.properties'), 'motd=theirs\n');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('heading', { name: 'Changed meanwhile' }).waitFor();
    expect(textOf('server.properties')).toBe('motd=theirs\n');
    await dialog.getByRole('button', { name: 'Save mine over theirs' }).click();
    await page.getByText('server.properties is saved.').waitFor();
    expect(textOf('server.properties')).toBe('motd=hello mine\n');
  });

  it('takes dropped files into a folder, says what is replaced, and deletes a folder with its files named', async () => {
    const { page } = await openSignedIn('#/templates/games/survival');
    const transfer = await page.evaluateHandle(
      "(() => { const data = new DataTransfer(); data.items.add(new File(['{\"a\": 1}'], 'game.json')); return data; })()",
    );
    await page.getByRole('region', { name: 'Files of this template' }).dispatchEvent('drop', {
      dataTransfer: transfer,
    });
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Into the folder').fill('config');
    await dialog.getByText('1 file of the template will be replaced.').waitFor();
    await dialog.getByRole('button', { name: 'Upload' }).click();
    await page.getByText('1 file uploaded.').waitFor();
    expect(textOf('config/game.json')).toBe('{"a": 1}');
    await page.getByTitle('Delete folder config').click();
    await dialog.getByText('config/game.json').waitFor();
    await dialog.getByRole('button', { name: 'Delete' }).click();
    await page.getByText('1 file deleted.').waitFor();
    await expect.poll(() => page.getByText('game.json').count()).toBe(0);
    expect(() => textOf('config/game.json')).toThrow('ENOENT');
  });

  async function openSignedIn(address: string, provoked: Provoked = {}): Promise<DashboardPage> {
    const dashboard = await shared.open({}, provoked);
    await dashboard.signIn(shared.admin);
    await dashboard.goTo(address);
    return dashboard;
  }

  function fileOf(path: string): string {
    return join(shared.daemon.paths.templates, 'games', 'survival', path);
  }

  function textOf(path: string): string {
    return readFileSync(fileOf(path), 'utf8');
  }
});
