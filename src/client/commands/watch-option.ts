/** `--watch`, the option of commands that list: its words. */
import type { Command } from 'commander';
import type { CommandPath } from '../../command-tree/commands.js';
import { ClientError, EXIT } from '../../command-tree/runs/client-error.js';
import type { ApiClient } from '../api-client.js';
import type { ClientHost, ClientOptions } from './client-host.js';

/** The commands that have it (`live/watch-list.ts`). */
const WATCHED: ReadonlySet<CommandPath> = new Set([
  'instance list',
  'config list',
  'cluster nodes',
  'template list',
]);

export interface WatchOptions extends ClientOptions {
  readonly watch?: true;
}

export function addWatchOption(command: Command, path: CommandPath): void {
  if (WATCHED.has(path))
    command.option('-w, --watch', 'go on with what changes: drawn again on a terminal, else row by row');
}

/** Throws a ClientError. */
export async function runWatched(
  host: ClientHost,
  api: ApiClient,
  path: CommandPath,
  input: unknown,
  { output: format }: WatchOptions,
): Promise<void> {
  if (format === 'yaml') throw new ClientError(EXIT.usage, '--watch prints no YAML: use -o json');
  const { watchList } = await import('../live/watch-list.js');
  const { stdout } = host.surroundings;
  const isDrawn = stdout.isTTY === true && (format === 'table' || format === 'wide');
  const options = { format, terminal: isDrawn ? stdout : undefined };
  await watchList(api, path, input, options, await host.liveOutput());
}
