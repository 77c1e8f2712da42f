/** Asks before a command destroys something, and names the cluster: the wrong terminal is easily typed into. */

import { ClientError, EXIT } from '../command-tree/runs/client-error.js';
import type { ApiClient } from './api-client.js';
import type { Terminal } from './contexts/terminal.js';

/** `what`: such as `instance ab12cd is deleted`. Throws a ClientError unless a person says yes. */
export async function confirm(what: string, api: ApiClient, terminal: Terminal): Promise<void> {
  if (!terminal.isInteractive)
    throw new ClientError(EXIT.usage, `${what}: there is no terminal to ask on, so give --yes`);
  const { clusterName } = await api.get<{ readonly clusterName: string }>('/ping');
  const { name, url } = api.connection;
  const answer = await terminal.ask(`Cluster ${clusterName} (${name}, ${url}): ${what}. Go on? [y/N] `);
  if (!/^y(es)?$/i.test(answer.trim())) throw new ClientError(EXIT.failed, 'nothing was done');
}
