/**
 * A WebSocket that a real browser opens. It cannot set a header, so the key is a subprotocol. Skipped without
 * Chromium.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { generateToken } from '../../../src/access/tokens.js';
import { ApiWorld } from '../../support/api/api-world.js';
import { BROWSER_TIMEOUT_MS, CHROMIUM, launchBrowser } from '../../support/dashboard/browser.js';

const page = createServer((_request, response) => response.setHeader('content-type', 'text/html').end('<p>'));

let world: ApiWorld;
beforeEach(async () => {
  world = await new ApiWorld().start();
  await world.server.start();
  page.listen(0, '127.0.0.1');
  await once(page, 'listening');
});
afterEach(async () => {
  page.closeAllConnections();
  page.close();
  await world.stop();
});

/** Runs in the browser: opens a socket, sends one command, and returns what came of it. */
async function tryInPage(this: void, [url, protocols]: [string, string[]]): Promise<string> {
  return await new Promise((resolve) => {
    const socket = new WebSocket(url, protocols);
    socket.onopen = () => socket.send('help');
    socket.onmessage = ({ data }) => resolve(`${socket.protocol}: ${data}`);
    socket.onclose = ({ code }) => resolve(`closed ${code}`);
  });
}

describe.skipIf(CHROMIUM === undefined)('Chromium, on a page of another origin', () => {
  it('opens a socket with the key as a subprotocol, and none with a wrong or a lonely one, or a key in the URL', async () => {
    const browser = await launchBrowser();
    try {
      const tab = await browser.newPage();
      tab.setDefaultTimeout(BROWSER_TIMEOUT_MS);
      const address = page.address();
      await tab.goto(
        `http://127.0.0.1:${address !== null && typeof address === 'object' ? address.port : 0}/`,
      );
      const url = `${world.url.replace(/^http/, 'ws')}/console`;
      const asProtocol = (token: string): string =>
        `base64url.bearer.authorization.drover.${Buffer.from(token).toString('base64url')}`;
      const attempt = (protocols: string[], to = url): Promise<string> => {
        const what: [string, string[]] = [to, protocols];
        return tab.evaluate(tryInPage, what);
      };
      expect(await attempt(['drover', asProtocol(world.admin)])).toBe('drover: would run: help');
      expect(await attempt(['drover', asProtocol(generateToken())])).toBe('closed 1006');
      expect(await attempt([asProtocol(world.admin)])).toBe('closed 1006');
      expect(await attempt(['drover'], `${url}?token=${world.admin}`)).toBe('closed 1006');
    } finally {
      await browser.close();
    }
  });
});
