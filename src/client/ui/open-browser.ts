/**
 * Opens a link in the user's browser. Other users can see a program's arguments, so the browser gets the path of a
 * private file. That file redirects to the link.
 */
import { spawn } from 'node:child_process';
import { mkdir, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { replaceFile } from '../../files/replace-file.js';

const OPENER = 'xdg-open';
/** The browser counts as opened after this time, because some openers run as long as the browser does. */
const FAILS_WITHIN_MS = 3000;

/** Returns false when there is no display, or no program opened the link. */
export async function openBrowser(link: string, environment: NodeJS.ProcessEnv): Promise<boolean> {
  const { DISPLAY: x = '', WAYLAND_DISPLAY: wayland = '' } = environment;
  if (x === '' && wayland === '') return false;
  const file = await writePage(link, environment).catch(() => undefined);
  return file !== undefined && hasOpened(file, environment);
}

/** Writes the page and returns its path. The next link overwrites the page; this link's code has expired by then. */
async function writePage(link: string, environment: NodeJS.ProcessEnv): Promise<string> {
  const file = join(await privateDirectory(environment), 'ui.html');
  await replaceFile(file, pageTo(link));
  return file;
}

async function privateDirectory({ XDG_RUNTIME_DIR: runtime }: NodeJS.ProcessEnv): Promise<string> {
  if (runtime === undefined || !isAbsolute(runtime)) return mkdtemp(join(tmpdir(), 'drover-ui-'));
  const directory = join(runtime, 'drover');
  await mkdir(directory, { recursive: true, mode: 0o700 });
  return directory;
}

function pageTo(link: string): string {
  const address = link.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;');
  return [
    '<!doctype html>',
    '<meta charset="utf-8">',
    '<meta name="referrer" content="no-referrer">',
    `<meta http-equiv="refresh" content="0; url=${address}">`,
    '<title>Drover</title>',
    `<p><a href="${address}">Open the dashboard</a></p>`,
    '',
  ].join('\n');
}

function hasOpened(file: string, env: NodeJS.ProcessEnv): Promise<boolean> {
  return new Promise((resolve) => {
    const opener = spawn(OPENER, [file], { env, stdio: 'ignore', detached: true });
    const timer = setTimeout(() => resolve(true), FAILS_WITHIN_MS);
    const end = (isOpen: boolean): void => {
      clearTimeout(timer);
      resolve(isOpen);
    };
    opener.once('error', () => end(false));
    opener.once('exit', (code) => end(code === 0));
    opener.unref();
  });
}
