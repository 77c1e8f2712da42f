/** Notices that the server has another version of the page than this tab: Drover was updated while the tab was open. */
import { effect, type ReadonlySignal, signal } from '@preact/signals';
import type { ConnectionState } from '../live/live-connection.js';

/**
 * Tells whether the page of this tab is old. `own`: the name of this page by `buildOf`; null: not known, as in a
 * development server. `read`: reads the server's present page, as HTML. It is read at each connect, because the
 * server can only have changed while the connection was lost.
 */
export function watchBuild(
  own: string | null,
  read: () => Promise<string>,
  connection: ReadonlySignal<ConnectionState>,
): ReadonlySignal<boolean> {
  const isOld = signal(false);
  const check = async (): Promise<void> => {
    // Ignore an unreadable page: the check runs again at the next connect.
    const served = buildOf(await read().catch(() => ''));
    isOld.value = own !== null && served !== null && served !== own;
  };
  effect(() => {
    if (connection.value.phase === 'live') void check();
  });
  return isOld;
}

/** The name of the page's script, which contains a hash of everything that it loads; null: the page has no script. */
export function buildOf(html: string): string | null {
  return /<script[^>]*\ssrc="[^"]*\/(assets\/[^"]+\.js)"/.exec(html)?.[1] ?? null;
}
