/** The dashboard's screen of one instance, on real instances: log, command line, search, runs, terminal. Needs `npm run build`. */
import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { beforeEach, describe, expect, it } from 'vitest';
import { expectAccessible } from '../../support/dashboard/accessibility.js';
import { CHROMIUM } from '../../support/dashboard/browser.js';
import type { DashboardPage, DashboardPageOptions } from '../../support/dashboard/dashboard-page.js';
import { SIZES, THEMES } from '../../support/dashboard/every-screen.js';
import { type SharedDashboard, shareDashboard } from '../../support/dashboard/shared-dashboard.js';
import { until } from '../../support/until.js';

/** Answers each line that it reads; `burst N` writes N lines. */
const PROGRAM =
  'echo ready; while read -r word count; do case "$word" in ' +
  'burst) i=0; while [ $i -lt $count ]; do i=$((i+1)); echo "burst $i of $count"; done;; ' +
  'end) exit 3;; ' +
  `hostile) printf '\\033[31mred\\033[0m \\033[38;2;10;200;90mgreen\\033[0m <script>alert(1)</script> \\033]0;title\\007\\033]8;;http://evil.example\\007link\\033]8;;\\007 \\342\\200\\256rtl\\n';; ` +
  '*) echo "answer to $word $count";; esac; done';
/** What each tab shows once it is there. */
const SHOWN = {
  log: '.log-row',
  usage: '.chart canvas',
  why: '.why-verdict',
  runs: '.empty',
  details: '.environment',
  terminal: '.empty',
} as const;
const TABS = ['log', 'usage', 'why', 'runs', 'details', 'terminal'] as const;

/** Pastes two lines into the command line. */
const PASTE_OF_LINES = `{
  const clipboardData = new DataTransfer();
  clipboardData.setData('text', 'hello you\\nhello again');
  const paste = new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true });
  document.querySelector('.command-line input').dispatchEvent(paste);
}`;

describe.skipIf(CHROMIUM === undefined)('the dashboard in Chromium (skipped where there is none)', () => {
  let shared: SharedDashboard;
  let id: string;
  shareDashboard((one) => {
    shared = one;
  });
  beforeEach(async () => {
    shared.daemon.template('games', 'lobby', { motd: 'Welcome' });
    shared.daemon.configure('lobby', {
      command: PROGRAM,
      minimumServiceCount: 1,
      templateInstallationConfig: { allOf: [{ group: 'games', name: 'lobby' }] },
      environmentVariables: { MOTD: 'Welcome', DATABASE_PASSWORD: 'hunter2' },
    });
    const [instance] = await shared.daemon.untilOnline('lobby', 1);
    id = instance?.id ?? '';
    await shared.daemon.untilLogged(id, /^ready$/);
  });

  it('takes a command and shows the answer; a killed process returns, and its end stands in the runs', async () => {
    const { page } = await openInstance();
    await send(page, 'hello world');
    await row(page, 'answer to hello world').waitFor();
    await page.getByLabel('Command for the instance').press('ArrowUp');
    expect(await page.getByLabel('Command for the instance').inputValue()).toBe('hello world');
    await page.evaluate(PASTE_OF_LINES);
    await page.getByRole('dialog', { name: 'Send 2 lines?' }).getByRole('button', { name: 'Send' }).click();
    await row(page, 'answer to hello again').waitFor();
    const { processPid } = await shared.daemon.api.instance(id);
    process.kill(processPid ?? 0, 'SIGKILL');
    await row(page, 'ready').nth(1).waitFor();
    await page.getByText('Online', { exact: true }).waitFor();
    await page.getByRole('link', { name: 'Runs' }).click();
    await page.getByText('ended by SIGKILL').waitFor();
    await page.getByText('answer to hello world').waitFor();
  });

  it('finds a line in all that is kept, links to it, and shows what came while it held still', async () => {
    const { page } = await openInstance();
    await send(page, 'burst 6000');
    await row(page, 'burst 6000 of 6000').waitFor();
    await page.getByLabel('Find in the whole log').fill('BURST 77 *');
    await page.keyboard.press('Enter');
    await page.getByRole('link', { name: /burst 77 of/ }).click();
    await until(async () => expect(await isInSight(page, 'burst 77 of 6000')).toBe(true));
    expect(page.url()).toMatch(/line=78/);
    await page.reload();
    await until(async () => expect(await isInSight(page, 'burst 77 of 6000')).toBe(true));
    expect(await row(page, 'burst 6000 of 6000').count()).toBe(0);
    await send(page, 'burst 40');
    await page.getByRole('button', { name: '40 new lines' }).click();
    await until(async () => expect(await isInSight(page, 'burst 40 of 40')).toBe(true));
    await page.getByRole('button', { name: 'Pause' }).click();
    await send(page, 'burst 30');
    await page.getByRole('button', { name: '30 new lines' }).waitFor();
    expect(await isInSight(page, 'burst 30 of 30')).toBe(false);
    // Up to the very first line: older ones are loaded on the way, without a hole.
    const log = page.getByRole('log');
    await log.focus();
    // What is loaded above leaves in sight what was, so the key may be needed once more.
    await until(async () => {
      await page.keyboard.press('Home');
      expect(await page.getByText('The log begins here.').count()).toBe(1);
      expect(await isInSight(page, 'ready')).toBe(true);
    });
    expect(await numbersAreInARow(page)).toBe(true);
    await page.getByRole('button', { name: 'More' }).click();
    const download = page.waitForEvent('download');
    await page.getByRole('menuitem', { name: 'Download all of it' }).click();
    const lines = readFileSync(await (await download).path(), 'utf8')
      .trim()
      .split('\n');
    expect([lines.length, lines[0]?.replace(/^\S+ /, ''), lines.at(-1)?.replace(/^\S+ /, '')]).toEqual([
      1 + 6000 + 40 + 30,
      'ready',
      'burst 30 of 30',
    ]);
  });

  it('shows which version of its template it has, and that the template has changed since', async () => {
    const { page } = await openInstance('tab=details');
    await page.getByText(/^games\/lobby [0-9a-f]{12} current$/).waitFor();
    shared.daemon.template('games', 'lobby', { motd: 'Hello' });
    await page.getByText(/^games\/lobby [0-9a-f]{12} older: the template has changed since$/).waitFor();
    const { text } = await shared.daemon.api.send('POST', '/commands/execute', {
      command: `instance info ${id}`,
    });
    expect(text).toMatch(
      /games\/lobby \([0-9a-f]{12}, installed .* ago, older: the template has changed since\)/,
    );
  });

  it('attaches a terminal that can be left with the keyboard', async () => {
    const { page } = await openInstance('tab=terminal');
    await page.getByRole('button', { name: 'Attach' }).click();
    await terminalFocused(page);
    await page.keyboard.type('hostile\n');
    await page.locator('.xterm-rows').getByText('<script>alert(1)</script>').waitFor();
    await page.setViewportSize({ width: 900, height: 700 });
    await page.keyboard.type('typed\n');
    await page.locator('.xterm-rows').getByText('answer to typed').waitFor();
    await page.keyboard.press('Control+Shift+Period');
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Leave');
    await page.keyboard.press('Enter');
    await page.getByText('You have left the terminal').waitFor();
    await page.getByRole('button', { name: 'Attach again' }).click();
    await terminalFocused(page);
    await page.keyboard.type('end\n');
    await page.getByText(`instance ${id} exited with code 3`).waitFor();
  });

  it('deletes after a question, says that it is gone, and keeps what was loaded', async () => {
    const { page } = await openInstance();
    await row(page, 'ready').waitFor();
    await page.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByText(`Instance ${id} was removed.`).waitFor();
    await page.getByText(`logs/instances/${id}/ of node node-a`).waitFor();
    expect(await row(page, 'ready').count()).toBe(1);
    await page.getByRole('button', { name: 'More' }).click();
    const download = page.waitForEvent('download');
    await page.getByRole('menuitem', { name: 'Download what is loaded' }).click();
    expect(readFileSync(await (await download).path(), 'utf8')).toContain('ready\n');
  });

  it('shows a key with READ what is, and nothing to press', async () => {
    const made = await shared.daemon.api.send('POST', '/keys', { label: 'reader', scope: 'READ' });
    const { token } = JSON.parse(made.text);
    const { page } = await openInstance('', {}, token);
    await row(page, 'ready').waitFor();
    for (const name of ['Stop', 'Delete', 'Send'])
      expect(await page.getByRole('button', { name, exact: true }).count()).toBe(0);
    expect(await page.getByRole('link', { name: 'Terminal' }).count()).toBe(0);
  });

  it.each(SIZES)('has all parts accessible at a $size, light and dark', async ({ size, ...window }) => {
    await shared.daemon.api.execute(id, 'hostile');
    await shared.daemon.api.execute(id, 'burst 30');
    const dashboard = await openInstance('', window);
    const { page } = dashboard;
    await page.getByText('<script>alert(1)</script>').waitFor();
    for (const tab of TABS) {
      await dashboard.goTo(`#/instances/${id}?tab=${tab}`);
      await page.locator(SHOWN[tab]).first().waitFor();
      expect(await dashboard.overflow(), `${tab} is wider than the window`).toBeLessThanOrEqual(0);
      for (const theme of THEMES) {
        await page.emulateMedia({ colorScheme: theme });
        await dashboard.shoot(`instance-${tab}-${size}-${theme}`);
        await expectAccessible(page, `${tab}, ${theme}`, theme === 'light' ? 'all' : 'colours');
      }
    }
  });

  async function openInstance(
    query = '',
    options: Partial<DashboardPageOptions> = {},
    key = shared.admin,
  ): Promise<DashboardPage> {
    const dashboard = await shared.open(options);
    await dashboard.signIn(key);
    await dashboard.goTo(`#/instances/${id}?${query}`);
    await dashboard.page.getByRole('heading', { level: 1, name: id }).waitFor();
    return dashboard;
  }
});

/** Lines of the log with exactly this text. */
function row(page: Page, text: string) {
  return page.locator('.log-text', { hasText: new RegExp(`^${text}$`) });
}

/** The terminal takes the focus once it is attached. */
function terminalFocused(page: Page): Promise<void> {
  return page.locator('.xterm-helper-textarea:focus').waitFor({ state: 'attached' });
}

async function send(page: Page, command: string): Promise<void> {
  await page.getByLabel('Command for the instance').fill(command);
  await page.keyboard.press('Enter');
}

/** Whether the line is in the part of the log that is seen. */
async function isInSight(page: Page, text: string): Promise<boolean> {
  const frame = await page.getByRole('log').boundingBox();
  const box = await row(page, text).last().boundingBox();
  return (
    frame !== null && box !== null && box.y >= frame.y - 1 && box.y + box.height <= frame.y + frame.height + 1
  );
}

/** Whether the log on the page has no hole and no line twice. */
async function numbersAreInARow(page: Page): Promise<boolean> {
  const numbers = await page.locator('.log-number').allTextContents();
  return numbers.every((number, place) => place === 0 || Number(number) === Number(numbers[place - 1]) + 1);
}
