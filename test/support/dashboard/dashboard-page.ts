/**
 * The dashboard of a running daemon in a browser, and a watch over it. After each test `expectClean` checks that the
 * page asked no other host, logged no error, threw nothing and broke no Content-Security-Policy.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { expect } from 'vitest';
import { text } from '../../../src/dashboard/app/text.js';
import { BROWSER_TIMEOUT_MS } from './browser.js';

/** Chromium logs each answer of 400 and more; a test that provokes such an answer names its status. */
/** A socket with a key that is gone: Chromium says no status. */
const REFUSED_SOCKET = /HTTP Authentication failed/;
const FAILED_CALL = /Failed to load resource: the server responded with a status of (\d+)/;
/** Chromium's message about a socket that the page gives up while it opens, such as at a sign-out. */
const CLOSED_BY_PAGE = /WebSocket is closed before the connection is established/;
/** Chromium's messages about a socket or call that finds no server. */
const NO_SERVER = /net::ERR_CONNECTION_|WebSocket connection to .* failed|net::ERR_SOCKET|ERR_EMPTY_RESPONSE/;

/** The limit for a look at the page, which ends only waits for something that never comes. */
const PATIENCE_MS = 120_000;

export interface DashboardPageOptions {
  /** The origin, such as `http://127.0.0.1:7000`. */
  readonly origin: string;
  readonly width?: number;
  readonly height?: number;
  readonly theme?: 'light' | 'dark';
  /** An existing context, for a second tab that shares only the channels of its origin. */
  readonly context?: BrowserContext;
}

export interface Provoked {
  /** The statuses that this test makes the API answer. */
  readonly statuses?: readonly number[];
  /** True: the daemon was down for a while. */
  readonly isServerLost?: boolean;
}

export class DashboardPage {
  readonly page: Page;
  readonly context: BrowserContext;
  readonly #origin: string;
  readonly #problems: string[] = [];
  readonly #origins = new Set<string>();

  private constructor(page: Page, origin: string) {
    this.page = page;
    this.context = page.context();
    this.#origin = origin;
    page.setDefaultTimeout(BROWSER_TIMEOUT_MS);
    page.on('console', (message) => {
      if (message.type() === 'error' || message.type() === 'warning') this.#problems.push(message.text());
    });
    page.on('pageerror', (error) => this.#problems.push(error.stack ?? error.message));
    page.on('request', (request) => this.#origins.add(new URL(request.url()).origin));
    page.on('websocket', (socket) => this.#origins.add(new URL(socket.url()).origin.replace('ws', 'http')));
  }

  static async open(browser: Browser, options: DashboardPageOptions): Promise<DashboardPage> {
    const { origin, width = 1440, height = 900, theme = 'light' } = options;
    const context =
      options.context ??
      (await browser.newContext({
        viewport: { width, height },
        colorScheme: theme,
        reducedMotion: 'reduce',
      }));
    const dashboard = new DashboardPage(await context.newPage(), origin);
    // A violation is not always a console error; the page's own event names the rule.
    await dashboard.page.exposeFunction('droverTestViolation', (rule: string) =>
      dashboard.#problems.push(`Content-Security-Policy: ${rule}`),
    );
    await dashboard.page.addInitScript(
      "document.addEventListener('securitypolicyviolation', (event) => droverTestViolation(event.violatedDirective + ' ' + event.blockedURI));",
    );
    return dashboard;
  }

  /** Goes to an address below `/ui/`, such as `#/instances`. */
  async goTo(address = ''): Promise<void> {
    await this.page.goto(`${this.#origin}/ui/${address}`);
  }

  /** Loads a screen anew, such as `instances`, and waits until it shows its content. */
  async show(screen: string): Promise<void> {
    // A page with another fragment would still show the screen before, so an empty page comes between.
    await this.page.goto('about:blank');
    await this.#goUntilShown(screen);
  }

  /**
   * Like `show`, but as a link does, for pages that are loaded already: a new load takes most of the processor's time. An
   * address that has no screen comes between.
   */
  async turnTo(screen: string): Promise<void> {
    await this.goTo('#/nowhere');
    await this.page.getByRole('heading', { level: 1, name: text.notFound }).waitFor();
    await this.#goUntilShown(screen);
  }

  async #goUntilShown(screen: string): Promise<void> {
    await this.goTo(`#/${screen}`);
    const main = this.page.locator('main');
    await main.getByRole('heading', { level: 1 }).filter({ hasNotText: text.notFound }).waitFor();
    await expect
      .poll(() => main.innerText(), { timeout: PATIENCE_MS })
      .not.toMatch(/^(?:Loading|Looking|Connecting)\b.*…$/m);
  }

  /** How many pixels the page is wider than its window. */
  overflow(): Promise<unknown> {
    return this.page.evaluate('document.documentElement.scrollWidth - innerWidth');
  }

  /** Types the key into the sign-in form, and waits for the navigation. */
  async signIn(key: string): Promise<void> {
    await this.goTo();
    await this.page.getByLabel('Key').fill(key);
    await this.page.getByRole('button', { name: 'Sign in' }).click();
    await this.page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
  }

  /** Fails with all faults of this page. */
  expectClean({ statuses = [], isServerLost = false }: Provoked = {}): void {
    const isProvoked = (problem: string): boolean => {
      if (CLOSED_BY_PAGE.test(problem)) return true;
      if (REFUSED_SOCKET.test(problem)) return statuses.includes(401);
      const status = FAILED_CALL.exec(problem)?.[1];
      if (status !== undefined) return statuses.includes(Number(status));
      return isServerLost && NO_SERVER.test(problem);
    };
    expect(this.#problems.filter((problem) => !isProvoked(problem))).toEqual([]);
    expect([...this.#origins]).toEqual([this.#origin]);
  }

  /** Takes a screenshot for a person when DROVER_SCREENSHOTS names a folder; otherwise does nothing. */
  async shoot(name: string): Promise<void> {
    const folder = process.env.DROVER_SCREENSHOTS;
    if (folder === undefined) return;
    mkdirSync(folder, { recursive: true });
    await this.page.screenshot({ path: join(folder, `${name}.png`) });
  }

  close(): Promise<void> {
    return this.page.close();
  }
}
