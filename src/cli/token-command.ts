/** `drover token`: asks the master that runs in a directory for a join token, with the operator's key. */
import { ApiClient } from '../client/api-client.js';
import { HttpConnection, type HttpConnectionOptions } from '../client/connection/http-connection.js';
import { targetOfRoot } from '../client/contexts/own-root.js';
import { DroverError } from '../model/errors.js';

export interface TokenOptions {
  readonly label?: string;
  readonly expires?: string;
  readonly uses?: string;
  readonly asMaster?: true;
}

/** Returns the text to print. Throws a ClientError, or the DroverError of an option that is not valid. */
export async function makeToken(
  root: string,
  options: TokenOptions,
  connection: HttpConnectionOptions,
): Promise<string> {
  const api = new ApiClient(new HttpConnection(await targetOfRoot(root), connection));
  const command = commandOf(options);
  const { output } = await api.send<{ readonly output: string }>('POST', '/commands/execute', { command });
  if (output.startsWith('error: ')) throw new DroverError('DRV_COMMAND_INVALID', output.slice(7).trim());
  return output;
}

function commandOf({ label, expires, uses, asMaster }: TokenOptions): string {
  const words = ['cluster', 'token', 'create'];
  if (label !== undefined) words.push('--label', label);
  if (expires !== undefined) words.push('--expires', expires);
  if (uses !== undefined) words.push('--uses', uses);
  if (asMaster === true) words.push('--as-master');
  // Quoted as the command line of the console requires.
  return words.map((word) => (/^[\w.-]+$/.test(word) ? word : JSON.stringify(word))).join(' ');
}
