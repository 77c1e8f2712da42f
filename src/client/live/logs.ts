/** `drover logs`: prints or follows the log of one instance, or of all instances of a configuration. */

import { byConfiguration } from '../../command-tree/groups/instance-text.js';
import { find, pathPart } from '../../command-tree/runs/api-calls.js';
import { notFoundError } from '../../command-tree/runs/client-error.js';
import type { InstanceInfo } from '../../model/instance.js';
import { DEFAULT_LOG_LINES } from '../../model/plain/command-limits.js';
import { quoteText } from '../../model/words.js';
import type { ApiClient } from '../api-client.js';
import { FollowedLogs, type LogStart } from './followed-logs.js';
import type { LiveOutput } from './live-output.js';
import {
  firstLineOf,
  type LogPart,
  type LogPiece,
  type LogPrinter,
  logPrinter,
  readLogPart,
} from './log-part.js';

/** How many of the last lines each of several logs begins with. */
const TAIL_OF_SEVERAL = 10;
/** The most last lines that a live log begins with. */
const MOST_TAIL = 1000;

/** `tail` undefined: the usual number of lines, fewer of each of several logs. */
type WantedPart = Omit<LogPart, 'tail'> & { readonly tail: number | undefined };

/** Prints a log, those of several instances by time. `name`: an instance or a configuration. Throws a ClientError. */
export async function printLogs(
  api: ApiClient,
  name: string,
  part: WantedPart,
  output: LiveOutput,
): Promise<void> {
  const { ids, whole, printer, isRemoved } = await logsOf(api, name, part, output);
  if (isRemoved) output.say(`instance ${name} was removed: this is what its node keeps of its log`);
  await printMerged(api, ids, whole, printer);
}

/** Prints the log until the instance has ended. Throws a ClientError. */
export async function followLogs(
  api: ApiClient,
  name: string,
  wanted: WantedPart,
  output: LiveOutput,
): Promise<void> {
  const { ids, whole: part, isRemoved, ...logs } = await logsOf(api, name, wanted, output);
  if (isRemoved) return printLogs(api, name, wanted, output);
  const { timestamps } = part;
  const starts = new Map<string, LogStart>();
  const nexts = ids.length > 1 ? await printMerged(api, ids, part, logs.printer) : undefined;
  for (const id of ids) {
    const since = nexts?.get(id);
    starts.set(id, since === undefined ? await startOf(api, id, part) : { since });
  }
  await new FollowedLogs({ api, output, ...logs, timestamps, starts }).run();
}

/** Writes a line to an instance, and prints what follows in its log for a while. Throws a ClientError. */
export async function executeAndFollow(
  api: ApiClient,
  { id, command }: { readonly id: string; readonly command: string },
  waitMs: number,
  output: LiveOutput,
): Promise<void> {
  const since = await firstLineOf(api, id, { ...EVERYTHING, tail: 0 });
  await api.send('POST', `/instances/${pathPart(id)}/execute`, { command });
  const signal = AbortSignal.any([output.signal, AbortSignal.timeout(waitMs)]);
  const part = { ...EVERYTHING, since: { line: since }, tail: Number.POSITIVE_INFINITY };
  await followLogs(api, id, part, { ...output, signal });
}

export const EVERYTHING = { since: undefined, until: undefined, previous: false, timestamps: false };

/** A piece of a log, with the time of its last line; '': it is not known. */
type TimedPiece = Readonly<{ id: string; at: string; piece: LogPiece }>;

/** Prints logs, those of several instances by time. Returns the number of the next line of each. Throws a ClientError. */
async function printMerged(
  api: ApiClient,
  ids: readonly string[],
  part: LogPart,
  printer: LogPrinter,
): Promise<ReadonlyMap<string, number>> {
  const nexts = new Map<string, number>();
  const logs = ids.map((id) => timedPieces(api, id, part, ids.length > 1));
  for await (const { id, piece } of merged(logs)) {
    const isGap = 'gap' in piece;
    nexts.set(id, isGap ? piece.gap.last + 1 : piece.first + piece.lines.length);
    if (!(await printer(id, isGap || part.timestamps ? piece : { ...piece, times: undefined }))) break;
  }
  return nexts;
}

async function* timedPieces(
  api: ApiClient,
  id: string,
  part: LogPart,
  isMerged: boolean,
): AsyncGenerator<TimedPiece> {
  let at = '';
  for await (const piece of readLogPart(api, id, { ...part, timestamps: isMerged || part.timestamps }))
    if (!isMerged || 'gap' in piece) yield { id, at, piece };
    else
      for (const [index, line] of piece.lines.entries()) {
        // A line without a time stays behind the one before it.
        at = piece.times?.[index] ?? at;
        yield { id, at, piece: { first: piece.first + index, lines: [line], times: [at || null] } };
      }
}

async function* merged(logs: readonly AsyncGenerator<TimedPiece>[]): AsyncGenerator<TimedPiece> {
  const heads = await Promise.all(logs.map(async (log) => ({ log, next: await log.next() })));
  for (;;) {
    const [first] = heads
      .flatMap((head) => (head.next.done === true ? [] : [{ head, value: head.next.value }]))
      .sort((a, b) => (a.value.at < b.value.at ? -1 : a.value.at > b.value.at ? 1 : 0));
    if (first === undefined) return;
    yield first.value;
    first.head.next = await first.head.log.next();
  }
}

/**
 * Finds the logs that `name` means. `instance` undefined: the name is a configuration, and all its instances are
 * meant. `ids`: the existing instances, the oldest first.
 */
async function logsOf(api: ApiClient, name: string, part: WantedPart, output: LiveOutput) {
  const of = await find<InstanceInfo>(api, `/instances/${pathPart(name)}`);
  const all = of === undefined ? await api.get<InstanceInfo[]>('/instances') : [of];
  const ids = all
    .filter(({ id, configurationName }) => id === name || configurationName === name)
    .sort(byConfiguration)
    .map(({ id }) => id);
  const isKnown = ids.length > 0 || (await find(api, `/configurations/${pathPart(name)}`)) !== undefined;
  const isRemoved =
    !isKnown && (await find(api, `/instances/${pathPart(name)}/logs?lines=1&removed=true`)) !== undefined;
  if (isRemoved) ids.push(name);
  if (isKnown || isRemoved)
    return {
      configuration: of?.configurationName ?? name,
      instance: isRemoved ? name : of?.id,
      ids,
      isRemoved,
      printer: logPrinter(output, of === undefined && !isRemoved),
      whole: {
        ...part,
        isRemoved,
        tail: part.tail ?? (ids.length > 1 ? TAIL_OF_SEVERAL : DEFAULT_LOG_LINES),
      },
    };
  throw notFoundError(
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
