/**
 * `drover token`: asks the master that runs in a directory for a join token. It uses the operator's key of that
 * directory.
 */

import type { CreatedJoinToken } from '../api/routes/join-token-routes.js';
import { ApiClient } from '../client/api-client.js';
import { HttpConnection, type HttpConnectionOptions } from '../client/connection/http-connection.js';
import { targetOfRoot } from '../client/contexts/own-root.js';
import type { InputOf } from '../command-tree/commands.js';
import { createdTokenText } from '../command-tree/groups/tokens.js';
import { plainLines } from '../command-tree/printed-text.js';

/** Makes a join token. Returns the text to print. Throws a ClientError. */
export async function makeToken(
  root: string,
  token: InputOf<'cluster token create'>,
  connection: HttpConnectionOptions,
): Promise<string> {
  const api = new ApiClient(new HttpConnection(await targetOfRoot(root), connection));
  return plainLines(createdTokenText(await api.send<CreatedJoinToken>('POST', '/cluster/tokens', token)));
}
