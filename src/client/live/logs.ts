/** `drover logs`: the log of one instance, or of all instances of a configuration; once, or as it grows. */

import { byConfiguration } from '../../command-tree/groups/instance-text.js';
import { pathPart } from '../../command-tree/runs/api-calls.js';
import { ClientError, EXIT } from '../../command-tree/runs/client-error.js';
import type { InstanceInfo } from '../../model/instance.js';
import { quoteText } from '../../model/words.js';
import type { ApiClient } from '../api-client.js';
import { FollowedLogs, type LogStart } from './followed-logs.js';
import type { LiveOutput } from './live-output.js';
import { firstLineOf, type LogPart, readLogPart } from './log-part.js';
import { LogPrinter } from './log-printer.js';

/** The most last lines that a live log begins with. */
const MOST_TAIL = 1000;

interface LogsOf {
  readonly configuration: string;
  /** Undefined: all of the configuration. */
  readonly instance: string | undefined;
  /** The instances that are there, the oldest first. */
  readonly ids: readonly string[];
}

/** `name`: of an instance or a configuration. Throws a ClientError. */
export async function printLogs(
  api: ApiClient,
  name: string,
  part: LogPart,
  output: LiveOutput,
): Promise<void> {
  const { instance, ids } = await find(api, name);
  const printer = new LogPrinter(output, instance === undefined);
  for (const id of ids)
    for await (const piece of readLogPart(api, id, part)) if (!(await printer.print(id, piece))) return;
}

/** Resolves when the instance has ended. Throws a ClientError. */
export async function followLogs(
  api: ApiClient,
  name: string,
  part: LogPart,
  output: LiveOutput,
): Promise<void> {
  const { configuration, instance, ids } = await find(api, name);
  const starts = new Map<string, LogStart>();
  for (const id of ids) starts.set(id, await startOf(api, id, part));
  const printer = new LogPrinter(output, instance === undefined);
  const { timestamps } = part;
  await new FollowedLogs({ api, output, printer, configuration, instance, timestamps, starts }).run();
}

async function find(api: ApiClient, name: string): Promise<LogsOf> {
  const instance = await api.find<InstanceInfo>(`/instances/${pathPart(name)}`);
  if (instance !== undefined)
    return { configuration: instance.configurationName, instance: name, ids: [name] };
  const all = await api.get<InstanceInfo[]>('/instances');
  const ids = all
    .filter(({ configurationName }) => configurationName === name)
    .sort(byConfiguration)
    .map(({ id }) => id);
  const isKnown = ids.length > 0 || (await api.find(`/configurations/${pathPart(name)}`)) !== undefined;
  if (isKnown) return { configuration: name, instance: undefined, ids };
  throw new ClientError(
    EXIT.notFound,
    `there is no instance and no configuration ${quoteText(name)}: "drover instance list" shows all`,
  );
}

/** Times are looked up once. From then on a log goes by line numbers. */
async function startOf(api: ApiClient, id: string, part: LogPart): Promise<LogStart> {
  if (part.since === undefined && part.tail <= MOST_TAIL) return { tail: part.tail };
  if (part.since === undefined && part.tail === Number.POSITIVE_INFINITY) return { since: 1 };
  return { since: await firstLineOf(api, id, part) };
}
