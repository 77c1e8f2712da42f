/** Notices that the server has another version of the page than this tab: Drover was updated while the tab was open. */
import { effect, type ReadonlySignal, signal } from '@preact/signals';
import type { ConnectionState } from '../live/live-connection.js';

interface PageBuildOptions {
  /** The page of this tab, as `buildOf` names it; null: not known, as in a development server. */
  readonly own: string | null;
  /** Reads the page that the server has now, as HTML. */
  readonly read: () => Promise<string>;
  /** The state of the connection. The server can only have changed after the connection was lost. */
  readonly connection: ReadonlySignal<ConnectionState>;
}

export class PageBuild {
  readonly #isOld = signal(false);
  readonly isOld: ReadonlySignal<boolean> = this.#isOld;
  readonly #options: PageBuildOptions;

  constructor(options: PageBuildOptions) {
    this.#options = options;
    effect(() => {
      if (options.connection.value.phase === 'live') void this.#check();
    });
  }

  async #check(): Promise<void> {
    const { own, read } = this.#options;
    // An unreadable page tells nothing; the check runs again at the next connect.
    const served = buildOf(await read().catch(() => ''));
    this.#isOld.value = own !== null && served !== null && served !== own;
  }
}

/** The name of the page's script, which contains a hash of everything that it loads; null: the page has no script. */
export function buildOf(html: string): string | null {
  return /<script[^>]*\ssrc="[^"]*\/(assets\/[^"]+\.js)"/.exec(html)?.[1] ?? null;
}
