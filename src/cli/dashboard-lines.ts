/**
 * The lines about the dashboard that a start prints: on a terminal a link that signs in, elsewhere only the address.
 */
import { ApiClient } from '../client/api-client.js';
import { HttpConnection } from '../client/connection/http-connection.js';
import { targetOfRoot } from '../client/contexts/own-root.js';
import { makeSignInCode } from '../client/ui/sign-in-code.js';
import type { Daemon } from '../daemon/daemon.js';
import { shellWord } from '../model/words.js';

/**
 * The lines about the dashboard; empty when there is no dashboard. `isTerminal`: the output is a terminal. Only a
 * terminal gets the link that signs in, because a log would keep the link.
 */
export async function dashboardLines(
  { paths: { root }, apiUrl, dashboard }: Pick<Daemon, 'paths' | 'apiUrl' | 'dashboard'>,
  isTerminal: boolean,
  version: string,
): Promise<readonly string[]> {
  const isServed = await dashboard.require().then(
    () => true,
    () => false,
  );
  if (!isServed) return [];
  const page = apiUrl.replace(/api$/, 'ui/');
  const again = `"drover ui --root ${shellWord(root)}" signs in`;
  const code = isTerminal ? await codeFor(root, version).catch(() => undefined) : undefined;
  if (code === undefined) return [page, again];
  return [`${page}#code=${code}`, `signs you in once, for a minute; then ${again}`];
}

async function codeFor(root: string, version: string): Promise<string> {
  return makeSignInCode(new ApiClient(new HttpConnection(await targetOfRoot(root), { version })));
}
