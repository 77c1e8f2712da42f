/** The browser gets the link through a file for this user only: no word of its command line tells the code. */
import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openBrowser } from '../../../src/client/ui/open-browser.js';

const LINK = 'https://master.example:7000/ui/#code=secret"<&';

let directory: string;
let environment: NodeJS.ProcessEnv;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'drover-open-'));
  environment = { DISPLAY: ':0', XDG_RUNTIME_DIR: directory, PATH: `${directory}:${process.env.PATH}` };
});
afterEach(() => rmSync(directory, { recursive: true }));

/** In the place of the system's program. */
function opener(script: string): void {
  const file = join(directory, 'xdg-open');
  writeFileSync(file, `#!/bin/sh\n${script}\n`);
  chmodSync(file, 0o755);
}

it('hands over a file that only this user can read, and that leads to the link', async () => {
  opener(`printf '%s\\n' "$@" > ${join(directory, 'words')}`);
  expect(await openBrowser(LINK, environment)).toBe(true);
  const file = join(directory, 'drover', 'ui.html');
  expect(readFileSync(join(directory, 'words'), 'utf8')).toBe(`${file}\n`);
  expect([statSync(file).mode & 0o777, statSync(join(directory, 'drover')).mode & 0o777]).toEqual([
    0o600, 0o700,
  ]);
  expect(readFileSync(file, 'utf8')).toContain(
    '<meta http-equiv="refresh" content="0; url=https://master.example:7000/ui/#code=secret&quot;&lt;&amp;">',
  );
});

it('says that it opened nothing without a display, without an opener, and when that fails', async () => {
  expect(await openBrowser(LINK, { ...environment, DISPLAY: '' })).toBe(false);
  expect(await openBrowser(LINK, { ...environment, PATH: directory })).toBe(false);
  opener('exit 3');
  expect(await openBrowser(LINK, environment)).toBe(false);
  expect(await openBrowser(LINK, { ...environment, XDG_RUNTIME_DIR: join(directory, 'xdg-open') })).toBe(
    false,
  );
});
