/** The headless Chromium of all tests that need a browser. They are skipped where the machine has none. */
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { type Browser, chromium } from 'playwright-core';

/** Debian's shell, the same browser without windows of its own, comes first: it takes a third less of the processor. */
const NAMES = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome'];

/** The path of the program; undefined: there is none. */
export const CHROMIUM = findProgram(NAMES);

/** The limit for a start of the browser, and for each look at its page: under load both take long. */
export const BROWSER_TIMEOUT_MS = 120_000;

export function launchBrowser(): Promise<Browser> {
  return chromium.launch({
    ...(CHROMIUM !== undefined && { executablePath: CHROMIUM }),
    // Without a graphics card the processor would play one, which takes a tenth more of it.
    args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu'],
    timeout: BROWSER_TIMEOUT_MS,
  });
}

function findProgram(names: readonly string[]): string | undefined {
  const directories = (process.env.PATH ?? '').split(delimiter);
  return names
    .flatMap((name) => directories.map((directory) => join(directory, name)))
    .find((file) => {
      try {
        accessSync(file, constants.X_OK);
        return true;
      } catch {
        return false;
      }
    });
}
