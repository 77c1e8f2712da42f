/** Asks a master for a one-time code that signs a browser in by a link. */
import type { ApiClient } from '../api-client.js';

/** Returns the link `<address>/ui/#code=<code>`. Throws a ClientError, also when the master serves no dashboard. */
export async function makeSignInCode(api: ApiClient): Promise<string> {
  const { code } = await api.send<{ readonly code: string }>('POST', '/sessions/codes', {});
  return code;
}
