/** The reference page at `/docs`: its files, its headers, and how it looks to a browser that reaches this server only. */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ApiWorld } from '../../support/api/api-world.js';
import { BROWSER_TIMEOUT_MS, CHROMIUM, launchBrowser } from '../../support/dashboard/browser.js';

const FILES = [
  ['/docs', 'text/html; charset=utf-8'],
  ['/docs/page.js', 'text/javascript; charset=utf-8'],
  ['/docs/swagger-ui-bundle.js', 'text/javascript; charset=utf-8'],
  ['/docs/swagger-ui.css', 'text/css; charset=utf-8'],
  ['/docs/favicon-32x32.png', 'image/png'],
] as const;

let world: ApiWorld;
let origin: string;
beforeAll(async () => {
  world = await new ApiWorld().start();
  await world.server.start();
  origin = world.url.replace(/\/api$/, '');
});
afterAll(() => world.stop());

describe('the files of the page', () => {
  it.each(FILES)(
    '%s is there for everyone, as %s, and may load nothing from elsewhere',
    async (path, type) => {
      const response = await fetch(origin + path);
      expect([response.status, response.headers.get('content-type')]).toEqual([200, type]);
      const policy = response.headers.get('content-security-policy');
      expect(policy).toContain("default-src 'none'");
      expect(policy).not.toMatch(/unsafe|https?:|\*/);
      const bytes = (await response.arrayBuffer()).byteLength;
      expect(bytes).toBeGreaterThan(100);
      expect(response.headers.get('content-length')).toBe(String(bytes));
      const head = await fetch(origin + path, { method: 'HEAD' });
      expect([head.status, head.headers.get('content-length')]).toEqual([200, String(bytes)]);
    },
  );

  it.each([
    '/docs/package.json',
    '/docs/../package.json',
    '/docs/%2e%2e/package.json',
    '/docs/..%2fpackage.json',
    '/docs/swagger-ui-bundle.js.map',
    '/docs/index.html',
  ])('%s is not one of them', async (path) => {
    const response = await fetch(origin + path, { headers: { authorization: `Bearer ${world.admin}` } });
    expect(response.status).toBe(404);
  });

  it('/docs/ leads to /docs, where relative addresses are right', async () => {
    const response = await fetch(`${origin}/docs/?x=/`);
    expect([response.status, response.url]).toEqual([200, `${origin}/docs`]);
    expect(await response.text()).toContain('docs/swagger-ui.css');
  });

  it('are only read', async () => {
    const headers = { authorization: `Bearer ${world.admin}` };
    expect((await fetch(`${origin}/docs`, { method: 'PUT', headers })).status).toBe(405);
    expect((await fetch(`${origin}/docs`, { method: 'POST' })).status).toBe(401);
  });
});

describe.skipIf(CHROMIUM === undefined)('the page in Chromium (skipped where there is none)', () => {
  it('shows every operation, calls one with a key, logs no error and asks no other host', async () => {
    const browser = await launchBrowser();
    try {
      const page = await browser.newPage({ viewport: { width: 1280, height: 1600 } });
      page.setDefaultTimeout(BROWSER_TIMEOUT_MS);
      const seen = watch(page);
      await page.goto(`${origin}/docs`);
      await page.locator('.opblock').first().waitFor();
      const shown = await page.locator('.opblock').count();
      expect(shown).toBe(world.server.routes.length + world.server.sockets.length);
      await callInstances(page, world.admin);
      await shoot(page);
      expect(seen.errors).toEqual([]);
      expect([...new Set(seen.urls.map((url) => new URL(url).origin))]).toEqual([origin]);
    } finally {
      await browser.close();
    }
  });
});

/** Types the key in, opens `GET /instances` and presses the buttons, as a reader would. */
async function callInstances(page: Page, key: string): Promise<void> {
  await page.locator('button.authorize').first().click();
  await page.locator('.auth-container input').first().fill(key);
  await page.locator('.auth-container button.authorize').first().click();
  await page.locator('.btn-done').first().click();
  const operation = page.locator('#operations-Instances-listInstances');
  await operation.locator('.opblock-summary-control').click();
  await operation.locator('.try-out__btn').click();
  await operation.locator('.execute').click();
  await operation.locator('.live-responses-table .response-col_status', { hasText: '200' }).waitFor();
}

function watch(page: Page): { readonly errors: string[]; readonly urls: string[] } {
  const errors: string[] = [];
  const urls: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') errors.push(message.text());
  });
  page.on('pageerror', (error) => errors.push(error.message));
  page.on('requestfailed', (request) => errors.push(`${request.url()}: ${request.failure()?.errorText}`));
  page.on('request', (request) => urls.push(request.url()));
  return { errors, urls };
}

/** For a person: DROVER_SCREENSHOT names a file. */
async function shoot(page: Page): Promise<void> {
  const path = process.env.DROVER_SCREENSHOT;
  if (path !== undefined) await page.screenshot({ path, fullPage: true });
}
