/** `drover logs`: prints or follows the log of one instance, or of all instances of a configuration. */

import { byConfiguration } from '../../command-tree/groups/instance-text.js';
import { find, pathPart } from '../../command-tree/runs/api-calls.js';
import { ClientError, EXIT } from '../../command-tree/runs/client-error.js';
import type { InstanceInfo } from '../../model/instance.js';
import { quoteText } from '../../model/words.js';
import type { ApiClient } from '../api-client.js';
import { FollowedLogs, type LogStart } from './followed-logs.js';
import type { LiveOutput } from './live-output.js';
import { firstLineOf, type LogPart, logPrinter, readLogPart } from './log-part.js';

/** The most last lines that a live log begins with. */
const MOST_TAIL = 1000;

/** Prints a log. `name`: an instance or a configuration. Throws a ClientError. */
export async function printLogs(
  api: ApiClient,
  name: string,
  part: LogPart,
  output: LiveOutput,
): Promise<void> {
  const { instance, ids, isRemoved } = await logsOf(api, name);
  if (isRemoved) output.say(`instance ${name} was removed: this is what its node keeps of its log`);
  const printer = logPrinter(output, instance === undefined);
  for (const id of ids)
    for await (const piece of readLogPart(api, id, part)) if (!(await printer(id, piece))) return;
}

/** Prints the log until the instance has ended. Throws a ClientError. */
export async function followLogs(
  api: ApiClient,
  name: string,
  part: LogPart,
  output: LiveOutput,
): Promise<void> {
  const { configuration, instance, ids, isRemoved } = await logsOf(api, name);
  if (isRemoved) return printLogs(api, name, part, output);
  const starts = new Map<string, LogStart>();
  for (const id of ids) starts.set(id, await startOf(api, id, part));
  const printer = logPrinter(output, instance === undefined);
  const { timestamps } = part;
  await new FollowedLogs({ api, output, printer, configuration, instance, timestamps, starts }).run();
}

/**
 * Finds the logs that `name` means. `instance` undefined: the name is a configuration, and all its instances are
 * meant. `ids`: the existing instances, the oldest first.
 */
async function logsOf(api: ApiClient, name: string) {
  const instance = await find<InstanceInfo>(api, `/instances/${pathPart(name)}`);
  if (instance !== undefined)
    return { configuration: instance.configurationName, instance: name, ids: [name], isRemoved: false };
  const all = await api.get<InstanceInfo[]>('/instances');
  const ids = all
    .filter(({ configurationName }) => configurationName === name)
    .sort(byConfiguration)
    .map(({ id }) => id);
  const isKnown = ids.length > 0 || (await find(api, `/configurations/${pathPart(name)}`)) !== undefined;
  if (isKnown) return { configuration: name, instance: undefined, ids, isRemoved: false };
  const log = await find(api, `/instances/${pathPart(name)}/logs?lines=1`);
  if (log !== undefined) return { configuration: name, instance: name, ids: [name], isRemoved: true };
  throw new ClientError(
    EXIT.notFound,
    `there is no instance and no configuration ${quoteText(name)}: "drover instance list" shows all`,
  );
}

/**
 * Finds the line where a log begins. Only the first line is found by its time; after it the log is read by line number.
 */
async function startOf(api: ApiClient, id: string, part: LogPart): Promise<LogStart> {
  if (part.since === undefined && part.tail <= MOST_TAIL) return { tail: part.tail };
  if (part.since === undefined && part.tail === Number.POSITIVE_INFINITY) return { since: 1 };
  return { since: await firstLineOf(api, id, part) };
}
